"""What is counted of callers. Names begin with `bailiff_`: they are of no one face."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

# From what a near API server takes to the longest that is waited for.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_MARKS = (*map(str, _BUCKETS), "+Inf")


class ReviewMetrics:
    """What is counted of one kind of question to the API server; by one thread.

    Attributes:
        kept: requests that a kept answer was there for.
    """

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.kept = 0
        self.asked: Counter[str] = Counter()
        self.seconds = [0.0] * len(_MARKS)
        self.sum_seconds = 0.0

    def observe(self, outcome: str, seconds: float) -> None:
        """Count a question: allowed, denied or failed; and how long its answer took."""
        self.asked[outcome] += 1
        self.seconds[bisect_left(_BUCKETS, seconds)] += 1
        self.sum_seconds += seconds


class AccessMetrics(Collector):
    """All that is counted of callers; counted by one thread, read by any."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self.token_reviews = ReviewMetrics()
        self.access_reviews = ReviewMetrics()
        # Counted as plain numbers: the library's counters take a lock for each request.
        self.authentication: Counter[str] = Counter(dict.fromkeys(_OUTCOMES, 0))
        self.refused: Counter[str] = Counter()

    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now."""
        yield _counter(
            "bailiff_authentication_total",
            "Requests by how the caller was known: token or certificate; else unauthenticated, or "
            "unavailable. Requests that anybody may make are not counted.",
            "outcome",
            self.authentication,
        )
        yield _counter(
            "bailiff_access_refused_total",
            "Requests that were not let in, by reason.",
            "reason",
            self.refused,
        )
        kinds = {"token": self.token_reviews, "access": self.access_reviews}
        yield _counter(
            "bailiff_access_kept_answers_total",
            "Answers of the API server about callers that were used again, by kind of review.",
            "review",
            Counter({kind: one.kept for kind, one in kinds.items()}),
        )
        yield from _reviews(kinds)


_OUTCOMES = ("token", "certificate", "unauthenticated", "unavailable")


def _counter(name: str, text: str, label: str, numbers: Counter[str]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for value, number in [*numbers.items()]:
        family.add_metric([value], number)
    return family


def _reviews(kinds: dict[str, ReviewMetrics]) -> Iterable[Metric]:
    asked = CounterMetricFamily(
        "bailiff_access_reviews_total",
        "Questions to the API server about callers, by kind and outcome: allowed, denied, failed.",
        labels=("review", "outcome"),
    )
    seconds = HistogramMetricFamily(
        "bailiff_access_review_duration_seconds",
        "Time of a question to the API server about a caller, its wait included, by kind.",
        labels=("review",),
    )
    for kind, one in kinds.items():
        for outcome, number in [*one.asked.items()]:
            asked.add_metric([kind, outcome], number)
        sums = [*zip(_MARKS, accumulate(one.seconds), strict=True)]
        seconds.add_metric([kind], sums, one.sum_seconds)
    return asked, seconds
