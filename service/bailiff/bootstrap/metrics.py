"""A registry of metrics for one process."""

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector


def new_registry() -> CollectorRegistry:
    """With what every Python process tells of itself; no global state."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
