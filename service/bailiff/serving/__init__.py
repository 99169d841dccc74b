"""uvicorn inside a running event loop: how every HTTP port of this process is opened and closed."""

from bailiff.serving.byte_budget import ByteBudget
from bailiff.serving.protocol import BOUNDS, Bounds, Refuse
from bailiff.serving.server import HttpServer

__all__ = ["BOUNDS", "Bounds", "ByteBudget", "HttpServer", "Refuse"]
