"""An in-memory Kubernetes API, good enough for kubectl and for the worker."""

from bailiff.embedded.cluster import EmbeddedCluster
from bailiff.embedded.settings import EmbeddedSettings

__all__ = ["EmbeddedCluster", "EmbeddedSettings"]
