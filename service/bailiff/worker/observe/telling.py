"""What people are told of an eviction: the log, Events, the audit log, a count of the cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.decisions import cancellation_event, device_taints
from bailiff.worker.observe.policy_events import held_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Hold
    from bailiff.kinds import Pod
    from bailiff.worker.observe.audit import AuditLog
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.observe.recorder import Recorder
    from bailiff.worker.timers.eviction import Eviction

log = structlog.get_logger(__name__)


class Teller:
    """Tells of evictions that are held, cancelled or carried out."""

    def __init__(
        self,
        recorder: Recorder,
        audit: AuditLog | None,
        metrics: WorkerMetrics,
        clock: Clock,
        may_act: Callable[[], bool],
        on_spared: Callable[[Eviction], None],
    ) -> None:
        """Prepare.

        Args:
            recorder: for Events.
            audit: where what was carried out is written down; None: nowhere.
            metrics: for counts.
            clock: for the time of an entry of the audit log.
            may_act: whether this worker is the one to act, and so to tell of what it cancels.
            on_spared: told of each eviction that is cancelled though its pod may carry the
                condition that announces it.
        """
        self._recorder = recorder
        self.audit = audit
        self._metrics = metrics
        self._clock = clock
        self._may_act = may_act
        self._on_spared = on_spared
        # Told of each pod that the taints of its devices have evicted.
        self.on_device_eviction: Callable[[Pod], None] = lambda _: None

    def executed(self, eviction: Eviction) -> None:
        """The API server has taken it."""
        if eviction.finding.system == device_taints.SYSTEM:
            self.on_device_eviction(eviction.pod)
        if self.audit:
            self.audit.record(eviction, self._clock.now())

    def held(self, eviction: Eviction, hold: Hold) -> None:
        """A policy holds it back."""
        log.info(
            "eviction held",
            pod=eviction.pod.key,
            uid=eviction.uid,
            cause=hold.cause.value,
            why=hold.message,
        )
        note = held_event(eviction.pod, hold)
        self._recorder.record(eviction.pod, note, eviction.finding.system)

    def cancelled(self, eviction: Eviction, why: str) -> None:
        """Its pod may stay."""
        if not self._may_act():
            return
        pod, system = eviction.pod, eviction.finding.system
        if eviction.marked:
            self._on_spared(eviction)
        log.info("eviction cancelled", pod=pod.key, uid=eviction.uid, why=why)
        self._metrics.cancelled.inc()
        self._recorder.record(pod, cancellation_event(pod, why, system), system)
