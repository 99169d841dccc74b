"""Objects of a watch that are left out: counted each, and told of at a limited rate."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import structlog

from bailiff.log_limit import LogLimit

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster import Unreadable
    from bailiff.worker.observe.metrics import WatchMetrics

# Objects that are logged once; each entry takes some 500 bytes.
_MAX_TOLD = 1000
# Seconds for one more line, and lines at once after a rest: whoever may write objects must not fill
# the log with them. Fewer a minute than of callers: what was left out stays, and is met again with
# the next list.
_SECONDS, _BURST = 6.0, 20
# Of a name, for people.
_MAX_NAME = 253

log = structlog.get_logger(__name__)


class LeftOut:
    """What is known of the objects that were left out."""

    def __init__(self, clock: Clock, metrics: WatchMetrics) -> None:
        """Start with none; `metrics` counts them."""
        self._metrics = metrics
        # Those that have been told of, latest last; more than there is room for are told of again.
        self._told: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._limit = LogLimit(clock.monotonic, _SECONDS, _BURST)

    def note(self, resource: str, one: Unreadable) -> None:
        """One has come, perhaps again; `resource` is the plural of its kind."""
        if one.refusal is None:
            self._metrics.unreadable.labels(resource).inc()
        else:
            self._metrics.refused.labels(resource, one.refusal.value).inc()
        key = resource, one.metadata.uid, one.reason
        if key in self._told:
            return
        left_out = self._limit.left_out()
        if left_out is None:
            return
        self._told[key] = None
        if len(self._told) > _MAX_TOLD:
            self._told.popitem(last=False)
        self._tell(resource, one, left_out)

    def _tell(self, resource: str, one: Unreadable, left_out: int) -> None:
        event = "object cannot be decoded and is left out"
        if one.refusal is not None:
            event = "object is beyond Kubernetes' limits and is left out"
        log.warning(
            event,
            resource=resource,
            name=f"{one.metadata.namespace}/{one.metadata.name}".lstrip("/")[:_MAX_NAME],
            uid=one.metadata.uid,
            why=one.reason,
            left_out=left_out,
        )
