"""The verbs of the API, with Kubernetes' rules around them, on top of the store."""

from bailiff_demo.registry import acts
from bailiff_demo.registry.eviction import evict, say_allowed
from bailiff_demo.registry.listing import ListOptions, Page
from bailiff_demo.registry.registry import Registry
from bailiff_demo.registry.target import DeleteOptions, Target

__all__ = [
    "DeleteOptions",
    "ListOptions",
    "Page",
    "Registry",
    "Target",
    "acts",
    "evict",
    "say_allowed",
]
