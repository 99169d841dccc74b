"""The verbs of the API, with Kubernetes' rules around them, on top of the store."""

from bailiff_demo.registry import acts
from bailiff_demo.registry.deletion import DeleteOptions
from bailiff_demo.registry.eviction import evict, say_allowed
from bailiff_demo.registry.meta import Target
from bailiff_demo.registry.registry import Registry

__all__ = ["DeleteOptions", "Registry", "Target", "acts", "evict", "say_allowed"]
