"""What the API server's answers come to, as metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

if TYPE_CHECKING:
    from bailiff.cluster import Exchange

# Those of client-go's rest_client_request_duration_seconds (component-base
# metrics/prometheus/restclient), 5 ms to 1 min.
_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
_NO_ANSWER = "none"


class ApiMetrics:
    """Counts the exchanges that it is told of: an Observer of bailiff.cluster.connect."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "bailiff_worker_api_requests_total",
            "Requests to the Kubernetes API server by method, resource and HTTP status; none: it "
            "was not reached, or did not answer in time.",
            ["method", "resource", "code"],
            registry=registry,
        )
        self.duration = Histogram(
            "bailiff_worker_api_request_duration_seconds",
            "Seconds from when a request could be sent until the head of its answer had come; of a "
            "watch, until it was accepted.",
            ["method", "resource"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self.backoff = Gauge(
            "bailiff_worker_api_backoff_seconds",
            "Seconds from now for which no request is sent but renewals of the Lease, because the "
            "API server refused some or asked for it; 0: they are sent.",
            registry=registry,
        )

    def __call__(self, exchange: Exchange) -> None:
        """Count one."""
        code = str(exchange.code) if exchange.code else _NO_ANSWER
        self.requests.labels(exchange.method, exchange.resource, code).inc()
        if exchange.code:
            self.duration.labels(exchange.method, exchange.resource).observe(exchange.seconds)
