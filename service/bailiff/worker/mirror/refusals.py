"""Objects of a watch that are left out: counted each, and told of at a limited rate."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster import Unreadable
    from bailiff.worker.observe.metrics import WatchMetrics

# Objects that are logged once; each entry takes some 500 bytes.
_MAX_TOLD = 1000
# Lines at once after a rest, and seconds for one more: whoever may write objects must not fill the
# log with them.
_BURST, _SECONDS = 20, 6.0
# Of a name, for people.
_MAX_NAME = 253

log = structlog.get_logger(__name__)


class LeftOut:
    """What is known of the objects that were left out."""

    def __init__(self, clock: Clock, metrics: WatchMetrics) -> None:
        """Start with none; `metrics` counts them."""
        self._clock = clock
        self._metrics = metrics
        # Those that have been told of, latest last; more than there is room for are told of again.
        self._told: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        # When the bucket of lines is full, by the monotonic clock, and how many were not told.
        self._full_at = float("-inf")
        self._untold = 0

    def note(self, resource: str, one: Unreadable) -> None:
        """One has come, perhaps again; `resource` is the plural of its kind."""
        if one.refusal is None:
            self._metrics.unreadable.labels(resource).inc()
        else:
            self._metrics.refused.labels(resource, one.refusal.value).inc()
        key = resource, one.metadata.uid, one.reason
        if key in self._told:
            return
        if not self._may_tell():
            self._untold += 1
            return
        self._told[key] = None
        if len(self._told) > _MAX_TOLD:
            self._told.popitem(last=False)
        self._tell(resource, one)

    def _may_tell(self) -> bool:
        now = self._clock.monotonic()
        full_at = max(self._full_at, now) + _SECONDS
        if full_at - now > _BURST * _SECONDS:
            return False
        self._full_at = full_at
        return True

    def _tell(self, resource: str, one: Unreadable) -> None:
        event = "object cannot be decoded and is left out"
        if one.refusal is not None:
            event = "object is beyond Kubernetes' limits and is left out"
        untold, self._untold = self._untold, 0
        more = {"others_not_told": untold} if untold else {}
        log.warning(
            event,
            resource=resource,
            name=f"{one.metadata.namespace}/{one.metadata.name}".lstrip("/")[:_MAX_NAME],
            uid=one.metadata.uid,
            why=one.reason,
            **more,
        )
