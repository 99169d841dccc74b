"""The verbs of the API, with Kubernetes' rules around them, on top of the store."""

from bailiff.embedded.registry import acts
from bailiff.embedded.registry.eviction import evict, say_allowed
from bailiff.embedded.registry.listing import ListOptions, Page
from bailiff.embedded.registry.registry import Registry
from bailiff.embedded.registry.target import DeleteOptions, Target

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
