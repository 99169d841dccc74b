"""What the gRPC face counts. Names begin with `bailiff_grpc_`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

from bailiff.decisions import tally

if TYPE_CHECKING:
    import grpc
    from prometheus_client import CollectorRegistry

    from bailiff.decisions import Answer

# A decision takes some ten microseconds, a batch of 1000 pods with trace some ten milliseconds.
_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class GrpcMetrics:
    """Counters and histograms by method."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "bailiff_grpc_requests",
            "Calls that have ended, by method and status code.",
            ("method", "code"),
            registry=registry,
        )
        self._messages = Counter(
            "bailiff_grpc_stream_messages",
            "Requests answered within streams, by method and status code.",
            ("method", "code"),
            registry=registry,
        )
        self._seconds = Histogram(
            "bailiff_grpc_request_duration_seconds",
            "From the request read to the answer ready; for streams, each request by itself.",
            ("method",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._decisions = Counter(
            "bailiff_grpc_decisions",
            "Decisions given, by verdict and by the system that decided; no system for KEEP.",
            ("verdict", "system"),
            registry=registry,
        )
        self._decided: dict[tuple[str, str], Counter] = {}

    def count_decisions(self, answer: Answer) -> None:
        """Count the decisions of an answer."""
        for (verdict, system), count in tally(answer).items():
            counter = self._decided.get((verdict, system))
            if counter is None:
                counter = self._decisions.labels(verdict, system)
                self._decided[verdict, system] = counter
            counter.inc(count)

    def method(self, name: str) -> MethodMetrics:
        """The same for one method, its labels looked up once."""
        return MethodMetrics(name, self._calls, self._messages, self._seconds)


class MethodMetrics:
    """What is counted of one method."""

    def __init__(self, name: str, calls: Counter, messages: Counter, seconds: Histogram) -> None:
        self._name = name
        self._calls = calls
        self._messages = messages
        self._ended: dict[grpc.StatusCode, Counter] = {}
        self._answered: dict[grpc.StatusCode, Counter] = {}
        self.observe_seconds = seconds.labels(name).observe

    def count_call(self, code: grpc.StatusCode) -> None:
        """A call has ended."""
        counter = self._ended.get(code)
        if counter is None:
            counter = self._ended[code] = self._calls.labels(self._name, code.name)
        counter.inc()

    def count_message(self, code: grpc.StatusCode) -> None:
        """A request within a stream was answered."""
        counter = self._answered.get(code)
        if counter is None:
            counter = self._answered[code] = self._messages.labels(self._name, code.name)
        counter.inc()
