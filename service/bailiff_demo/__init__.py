"""The demo cluster: a Kubernetes API in memory, good enough for kubectl and for the worker.

`bailiff up` shows Bailiff at work on it, tests use it where a real API server is not needed. It is
no part of the container image.
"""

from bailiff_demo.cluster import DemoCluster
from bailiff_demo.errors import ApiError
from bailiff_demo.fleet import Fleet, FleetError
from bailiff_demo.settings import DemoSettings

__all__ = ["ApiError", "DemoCluster", "DemoSettings", "Fleet", "FleetError"]
