"""What became of the requests of an HTTP port, counted for Prometheus.

The library's own metrics take three locks and five objects for each request, which costs as much as
reading its body. Here a request is two additions, and all else is done when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prometheus_client.core import Metric


class RequestTally(Collector):
    """Requests and how long they took, under names of one port.

    To be counted into by one thread; read by any.
    """

    def __init__(self, prefix: str, buckets: Sequence[float]) -> None:
        """Count nothing yet.

        Args:
            prefix: of the names, as `bailiff_rest`.
            buckets: bounds of durations in seconds, ascending; one without a bound is added.
        """
        self._prefix = prefix
        self._buckets = tuple(buckets)
        self._marks = (*map(str, self._buckets), "+Inf")
        # The seconds of all requests, then how many fell into each bucket.
        self._zeros = [0.0] * (1 + len(self._marks))
        self._rows: dict[tuple[str, str, int], list[float]] = defaultdict(self._zeros.copy)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request.

        Args:
            method: of HTTP; there must be a bounded number of them, and of routes.
            route: the template that matched.
            status: the HTTP status.
            seconds: how long it took.
        """
        row = self._rows[method, route, status]
        row[0] += seconds
        row[1 + bisect_left(self._buckets, seconds)] += 1

    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now: `prefix_requests_total` and `…_request_duration_seconds`."""
        rows = list(self._rows.items())
        requests = CounterMetricFamily(
            f"{self._prefix}_requests_total",
            "Requests answered, by method, route template and HTTP status.",
            labels=("method", "route", "status"),
        )
        for (method, route, status), row in rows:
            requests.add_metric((method, route, str(status)), sum(row[1:]))
        seconds = HistogramMetricFamily(
            f"{self._prefix}_request_duration_seconds",
            "Time from the head of a request to the end of its answer.",
            labels=("method", "route"),
        )
        times: dict[tuple[str, str], list[float]] = defaultdict(self._zeros.copy)
        for (method, route, _), row in rows:
            times[method, route] = [*map(add, times[method, route], row)]
        for labels, (total, *counts) in times.items():
            seconds.add_metric(labels, [*zip(self._marks, accumulate(counts), strict=True)], total)
        return requests, seconds
