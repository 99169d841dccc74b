"""What the gRPC face counts. Names begin with `bailiff_grpc_`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

from bailiff.face_metrics import DecisionCounter, RequestTally

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# A decision takes some ten microseconds, a batch of 1000 pods with trace some ten milliseconds.
_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class GrpcMetrics:
    """Counters and histograms by method.

    Attributes:
        requests: the questions, by method and status code: each is a call, or one of a stream's
            requests, which are timed one by one.
        connections: that are open.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register; once per registry."""
        self.requests = RequestTally("bailiff_grpc", ("method",), "code", _BUCKETS)
        registry.register(self.requests)
        streams = Counter(
            "bailiff_grpc_streams",
            "Streams of requests that have ended, by method and code. The code is also OK if the "
            "caller went away between two requests.",
            ("method", "code"),
            registry=registry,
        )
        self._ended = streams.labels
        self.connections = Gauge(
            "bailiff_grpc_connections", "Connections that are open.", registry=registry
        )
        ended = Counter(
            "bailiff_grpc_connections_ended",
            "Connections that the server has refused or ended, by reason: refused, open_files, "
            "tls_handshake, room, bytes, slow_message, slow_reader, unread_answers, malformed, "
            "unserved.",
            ("reason",),
            registry=registry,
        )
        self._connections_ended = ended.labels
        self.count_decisions = DecisionCounter("bailiff_grpc", registry).count

    def connections_ended(self, reason: str) -> None:
        """A connection was refused or ended, for one of the reasons of its metric."""
        self._connections_ended(reason).inc()

    def count_stream(self, method: str, code: str) -> None:
        """A stream of requests has ended."""
        self._ended(method, code).inc()
