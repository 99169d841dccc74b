"""An in-memory Kubernetes API, good enough for kubectl and for the worker."""

from bailiff.embedded.cluster import EmbeddedCluster
from bailiff.embedded.errors import ApiError
from bailiff.embedded.faults import Call, Fault, Faults
from bailiff.embedded.fleet import Fleet
from bailiff.embedded.settings import EmbeddedSettings

__all__ = ["ApiError", "Call", "EmbeddedCluster", "EmbeddedSettings", "Fault", "Faults", "Fleet"]
