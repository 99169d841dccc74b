"""The HTTP face of the demo cluster: a Starlette application."""

from bailiff_demo.http.app import create_app

__all__ = ["create_app"]
