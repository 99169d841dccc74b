"""The HTTP face of the embedded cluster: a bare ASGI application."""

from bailiff.embedded.http.app import Application

__all__ = ["Application"]
