"""What the gRPC face counts. Names begin with `bailiff_grpc_`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from prometheus_client import Counter

from bailiff.decisions import tally
from bailiff.request_tally import RequestTally

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.decisions import Answer

# A decision takes some ten microseconds, a batch of 1000 pods with trace some ten milliseconds.
_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class GrpcMetrics:
    """Counters and histograms by method.

    Attributes:
        requests: the questions, by method and status code: each is a call, or one of a stream's
            requests, which are timed one by one.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register; once per registry."""
        self.requests = RequestTally("bailiff_grpc", ("method",), "code", _BUCKETS)
        registry.register(self.requests)
        streams = Counter(
            "bailiff_grpc_streams",
            "Streams of requests that have ended, by method and code.",
            ("method", "code"),
            registry=registry,
        )
        decisions = Counter(
            "bailiff_grpc_decisions",
            "Decisions given, by verdict and by the system that decided; no system for KEEP.",
            ("verdict", "system"),
            registry=registry,
        )
        # `labels()` takes a lock and hashes texts: more than all the rest of counting.
        self._decided = cache(decisions.labels)
        self._ended = streams.labels

    def count_stream(self, method: str, code: str) -> None:
        """A stream of requests has ended."""
        self._ended(method, code).inc()

    def count_decisions(self, answer: Answer) -> None:
        """Count the decisions of an answer."""
        for key, number in tally(answer).items():
            self._decided(*key).inc(number)
