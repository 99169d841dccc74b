"""Metrics of the REST face.

Labels are bounded: route templates and never paths, the methods of HTTP and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Gauge

from bailiff.face_metrics import DecisionCounter, RequestTally

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# From a tenth of the usual answer to the longest that reading a cluster may take.
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


class Metrics:
    """The metrics, and how they are counted."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register; once per registry."""
        self._requests = RequestTally("bailiff_rest", ("method", "route"), "status", _BUCKETS)
        registry.register(self._requests)
        in_flight = Gauge(
            "bailiff_rest_requests_in_flight", "Requests being answered.", registry=registry
        )
        self.count = DecisionCounter("bailiff_rest", registry).count
        self.in_flight = 0
        in_flight.set_function(lambda: self.in_flight)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; any method; route "" where none matched, 499: the client hung up."""
        known = method if method in METHODS else "OTHER"
        self._requests.observe((known, route, status), seconds)
