"""What both faces count for Prometheus: requests, and the decisions given."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cache
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING

from prometheus_client import Counter
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from bailiff.decisions import tally

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

    from bailiff.decisions import Answer


class RequestTally(Collector):
    """Requests of one face, and how long they took.

    The library's own metrics take three locks and five objects for each request, which costs as
    much as reading its body. Here a request is two additions, and all else is done when somebody
    asks. To be counted into by one thread; read by any.
    """

    def __init__(
        self, prefix: str, labels: Sequence[str], outcome: str, buckets: Sequence[float]
    ) -> None:
        """Count nothing yet.

        Args:
            prefix: of the names, as `bailiff_rest`.
            labels: what tells requests apart, as `method` and `route`.
            outcome: the label for how they ended, as `status`; times are not told by it.
            buckets: bounds of durations in seconds, ascending; one without a bound is added.
        """
        self._prefix = prefix
        self._labels, self._outcome = tuple(labels), outcome
        self._buckets = tuple(buckets)
        self._marks = (*map(str, self._buckets), "+Inf")
        # The seconds of all requests, then how many fell into each bucket.
        self._zeros = [0.0] * (1 + len(self._marks))
        self._rows: dict[tuple[Hashable, ...], list[float]] = defaultdict(self._zeros.copy)

    def observe(self, values: tuple[Hashable, ...], seconds: float) -> None:
        """Count one answered request.

        Args:
            values: of the labels, the outcome last; there must be a bounded number of them.
            seconds: how long it took.
        """
        row = self._rows[values]
        row[0] += seconds
        row[1 + bisect_left(self._buckets, seconds)] += 1

    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now: `prefix_requests_total` and `…_request_duration_seconds`."""
        rows = list(self._rows.items())
        requests = CounterMetricFamily(
            f"{self._prefix}_requests_total",
            f"Requests answered, by {', '.join(self._labels)} and {self._outcome}.",
            labels=(*self._labels, self._outcome),
        )
        for values, row in rows:
            requests.add_metric([*map(str, values)], sum(row[1:]))
        seconds = HistogramMetricFamily(
            f"{self._prefix}_request_duration_seconds",
            f"Time from a request to its answer, by {', '.join(self._labels)}.",
            labels=self._labels,
        )
        times: dict[tuple[Hashable, ...], list[float]] = defaultdict(self._zeros.copy)
        for values, row in rows:
            times[values[:-1]] = [*map(add, times[values[:-1]], row)]
        for values, (total, *counts) in times.items():
            sums = [*zip(self._marks, accumulate(counts), strict=True)]
            seconds.add_metric([*map(str, values)], sums, total)
        return requests, seconds


class DecisionCounter:
    """Decisions that one face gave."""

    def __init__(self, prefix: str, registry: CollectorRegistry) -> None:
        """Register; `prefix` as for RequestTally."""
        decisions = Counter(
            f"{prefix}_decisions_total",
            "Decisions given, by verdict and by the system that decided; no system for KEEP.",
            ("verdict", "system"),
            registry=registry,
        )
        # `labels()` takes a lock and hashes texts: more than all the rest of counting a decision.
        self._decided = cache(decisions.labels)

    def count(self, answer: Answer) -> None:
        """Count the decisions of an answer."""
        for key, number in tally(answer).items():
            self._decided(*key).inc(number)
