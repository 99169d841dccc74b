"""What people and systems are told of an eviction: the log, Events, metrics, the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import DisruptionBudgetError
from bailiff.decisions import cancellation_event, denial_event, eviction_event
from bailiff.worker.execute.outcomes import EVICTED, Outcome
from bailiff.worker.observe.policy_events import blocked_event, held_event
from bailiff.worker.observe.traces import EvictionTraces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.cluster import ClusterError
    from bailiff.decisions import EventNote
    from bailiff.decisions.policies import Hold
    from bailiff.worker.execute.condition_resets import ConditionResets
    from bailiff.worker.observe.audit import AuditLog
    from bailiff.worker.observe.recorder import Recorder
    from bailiff.worker.systems.system import Parts, SystemInWorker
    from bailiff.worker.timers.eviction import Eviction

_ON_PAPER = "pod would be evicted, nothing is done"

log = structlog.get_logger(__name__)


class Teller:
    """Listens to evaluator, gate and executor; whatever becomes of an eviction is told here."""

    def __init__(
        self,
        parts: Parts,
        systems: Mapping[str, SystemInWorker],
        recorder: Recorder,
        audit: AuditLog | None,
        resets: ConditionResets,
    ) -> None:
        """Prepare.

        Args:
            parts: of the worker.
            systems: by name; each is told of its own evictions.
            recorder: for Events.
            audit: where what was carried out is written down; None: nowhere.
            resets: takes back the condition that announced what does not happen.
        """
        self._clock = parts.clock
        self._election = parts.election
        self._metrics = parts.metrics
        self._systems = systems
        self._evicted_words = _ON_PAPER if parts.settings.on_paper else "pod evicted"
        # Looked up once: of a node that is untainted all evictions are cancelled.
        self._cancelled = {name: parts.metrics.cancelled.labels(name) for name in systems}
        self._recorder = recorder
        self.audit = audit
        self._resets = resets
        # None: nothing is traced.
        self.traces = self._traces(parts) if parts.tracer.enabled else None

    @staticmethod
    def _traces(parts: Parts) -> EvictionTraces:
        return EvictionTraces(parts.tracer, parts.clock, on_paper=parts.settings.on_paper)

    def begins(self, eviction: Eviction) -> None:
        """An attempt is about to be made; people are told of the first."""
        if eviction.attempts == 1:
            note = eviction_event(eviction.pod, eviction.terms, eviction.finding.message)
            self._record(eviction, note)
        eviction.begun_by = eviction.finding.system
        self._systems[eviction.begun_by].began(eviction)

    def held(self, eviction: Eviction, hold: Hold) -> None:
        """A policy holds it back."""
        log.info(
            "eviction held",
            pod=eviction.pod.key,
            uid=eviction.uid,
            cause=hold.cause.value,
            why=hold.message,
        )
        self._record(eviction, held_event(eviction.pod, hold))

    def failed(self, eviction: Eviction, outcome: Outcome, error: Exception) -> None:
        """An attempt came to nothing."""
        log.warning(
            "eviction attempt failed",
            pod=eviction.pod.key,
            uid=eviction.uid,
            outcome=outcome.value,
            attempts=eviction.attempts,
            error=str(error) or type(error).__name__,
        )

    def again(self, eviction: Eviction, outcome: Outcome) -> None:
        """The attempt will be made once more."""
        self._owner_of(eviction).failed(eviction, outcome)

    def refused(self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None) -> None:
        """It failed in a way that people should know of; once, not with every try."""
        if outcome is Outcome.DENIED:
            # Only a person can mend it.
            self._record(eviction, denial_event(eviction.pod, str(failure)))
        elif isinstance(failure, DisruptionBudgetError):
            self._record(eviction, blocked_event(eviction.pod, failure.budget))

    def over(self, eviction: Eviction, outcome: Outcome) -> None:
        """No further attempt is needed."""
        log.info(
            self._evicted_words if outcome in EVICTED else "pod was gone already",
            pod=eviction.pod.key,
            uid=eviction.uid,
            outcome=outcome.value,
            attempts=eviction.attempts,
            reason=eviction.finding.reason,
            cause=eviction.finding.message,
        )
        if outcome in EVICTED:
            self._evicted(eviction)
        self._write_down(eviction, outcome)
        self._end(eviction, outcome)

    def ended(self, eviction: Eviction, outcome: Outcome) -> None:
        """It is over: another has taken the pod, or it has another deadline.

        People are told where it was begun.
        """
        self._end(eviction, outcome)
        if eviction.attempts and self._election.may_act():
            log.info(
                "eviction ended",
                pod=eviction.pod.key,
                uid=eviction.uid,
                outcome=outcome.value,
                attempts=eviction.attempts,
            )
            self._write_down(eviction, outcome)

    def cancelled(self, eviction: Eviction, why: str) -> None:
        """Its pod may stay, and it had not begun; told by the worker alone that is to act."""
        if self._election.may_act():
            log.info("eviction cancelled", pod=eviction.pod.key, uid=eviction.uid, why=why)
            self._drop(eviction, why)
        self._end(eviction, Outcome.KEPT)

    def dropped(self, eviction: Eviction, why: str) -> None:
        """It had been announced, and does not happen."""
        self._drop(eviction, why)
        self._end(eviction, Outcome.KEPT)

    def _drop(self, eviction: Eviction, why: str) -> None:
        self.spared(eviction)
        if eviction.attempts:
            self._write_down(eviction, Outcome.KEPT, why)
        self._cancelled[eviction.finding.system].inc()
        if eviction.attempts or not eviction.terms.cancellation_reason:
            self._record(eviction, cancellation_event(eviction.pod, why, eviction.terms))

    def spared(self, eviction: Eviction) -> None:
        """The pod will not go soon: it must not carry the condition that announces it."""
        if eviction.marked:
            eviction.marked = False
            self._resets.request(eviction)

    def _evicted(self, eviction: Eviction) -> None:
        late = max(0.0, self._clock.elapsed() - eviction.due)
        system = eviction.finding.system
        self._metrics.evictions.labels(eviction.by.value, system).inc()
        self._metrics.lateness.observe(late)
        self._systems[system].evicted(eviction, late)

    def _end(self, eviction: Eviction, outcome: Outcome) -> None:
        self._owner_of(eviction).ended(eviction, outcome)
        if self.traces is not None:
            self.traces.over(eviction, outcome)

    def _owner_of(self, eviction: Eviction) -> SystemInWorker:
        """Who is told what has become of it: by now another may have the pod go."""
        name, eviction.begun_by = eviction.begun_by or eviction.finding.system, ""
        return self._systems[name]

    def _write_down(self, eviction: Eviction, outcome: Outcome, why: str = "") -> None:
        if self.audit is not None:
            self.audit.record(eviction, self._clock.now(), outcome, why)

    def _record(self, eviction: Eviction, note: EventNote) -> None:
        self._recorder.record(eviction.pod, note, eviction.terms.controller)
