"""uvicorn inside a running event loop: how every HTTP port of this process is opened and closed.

And what each of them bears: connections, bytes, time.
"""

from bailiff.serving.bounds import BOUNDS, Bounds, OverloadedError, Reason, Refuse
from bailiff.serving.byte_budget import ByteBudget
from bailiff.serving.edge import Edge
from bailiff.serving.refusals import Refusals
from bailiff.serving.server import HttpServer
from bailiff.serving.settings import EdgeSettings
from bailiff.serving.threads import Threads

__all__ = [
    "BOUNDS",
    "Bounds",
    "ByteBudget",
    "Edge",
    "EdgeSettings",
    "HttpServer",
    "OverloadedError",
    "Reason",
    "Refusals",
    "Refuse",
    "Threads",
]
