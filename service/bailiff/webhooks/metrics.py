"""What is counted of reviews."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.face_metrics import RequestTally

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# From a tenth of the usual answer to the longest that the gate may take.
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Result(StrEnum):
    """What came of a review; the label of the metric.

    OTHER: the hook is not for such requests, EXEMPT: they are Bailiff's own; LATE: it was cut;
    FAILED: a fault of ours. The last four are answered for the hook.
    """

    ALLOWED = "allowed"
    PATCHED = "patched"
    DENIED = "denied"
    OTHER = "other"
    EXEMPT = "exempt"
    LATE = "late"
    FAILED = "failed"


class AdmissionMetrics:
    """Reviews by hook and result, and how long they took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register; once per registry."""
        self._reviews = RequestTally("bailiff_admission", ("hook",), "result", _BUCKETS)
        registry.register(self._reviews)

    def observe(self, hook: str, result: Result, seconds: float) -> None:
        """Count a review.

        Args:
            hook: its path.
            result: what came of it.
            seconds: how long it took.
        """
        self._reviews.observe((hook, result), seconds)
