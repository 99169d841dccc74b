"""Carries out what is due: at most so many at a time, earliest first, until each is over."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.cluster import ClusterError
from bailiff.decisions import Verdict, cancellation_event, denial_event, eviction_event
from bailiff.decisions.node_taints import CONDITION
from bailiff.worker.outcomes import RETRIES, Outcome, classify

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.kinds import Pod
    from bailiff.worker.actions import PodActions
    from bailiff.worker.metrics import WorkerMetrics
    from bailiff.worker.pending import Eviction, PendingEvictions
    from bailiff.worker.recorder import Recorder

# The longest sleep: a machine that was suspended, or whose monotonic clock stood still, is late
# by no more than this.
_LONGEST_SLEEP = 1.0
# Below this a timer may fire at the very instant it was set and find nothing due, again and again.
_SHORTEST_SLEEP = 0.001

log = structlog.get_logger(__name__)


class Executor:
    """A fixed number of tasks that take evictions when they fall due."""

    def __init__(
        self,
        pending: PendingEvictions,
        actions: PodActions,
        recorder: Recorder,
        metrics: WorkerMetrics,
        clock: Clock,
        *,
        finding: Callable[[Pod], Finding | None],
        reevaluate: Callable[[Pod], None],
        concurrency: int,
        attempt_timeout: float,
        may_act: Callable[[], bool] = lambda: True,
        on_executed: Callable[[Eviction], None] = lambda _: None,
        rng: random.Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            pending: where evictions come from and go back to.
            actions: what is done to the cluster.
            recorder: for Events.
            metrics: for counts.
            clock: for both kinds of time.
            finding: what holds for a pod now; None if that is not known.
            reevaluate: asks for a fresh look at a pod whose eviction was dropped.
            concurrency: evictions at a time.
            attempt_timeout: seconds one attempt may take.
            may_act: whether this worker is the one to act, this moment; `wake` it when that
                comes true.
            on_executed: told of each eviction that the API server has taken.
            rng: for the jitter of retries.
        """
        self._pending = pending
        self._actions = actions
        self._recorder = recorder
        self._metrics = metrics
        self._clock = clock
        self._finding = finding
        self._reevaluate = reevaluate
        self._concurrency = concurrency
        self._attempt_timeout = attempt_timeout
        self._may_act = may_act
        self._on_executed = on_executed
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._stopping = False

    def wake(self) -> None:
        """The first timer has moved to an earlier instant."""
        self._changed.set()

    def stop(self) -> None:
        """Take nothing more; `run` returns when what runs is through."""
        self._stopping = True
        self._changed.set()

    async def run(self) -> None:
        """Carry out until stopped."""
        async with asyncio.TaskGroup() as consumers:
            for _ in range(self._concurrency):
                consumers.create_task(self._consume())

    async def _consume(self) -> None:
        while (eviction := await self._next()) is not None:
            await self._carry_out(eviction)

    async def _next(self) -> Eviction | None:
        # One consumer watches the timers, the others queue behind it for their turn.
        async with self._turn:
            while not self._stopping:
                self._changed.clear()
                eviction = self._pending.take() if self._may_act() else None
                if eviction is not None:
                    return eviction
                await self._sleep()
            return None

    async def _sleep(self) -> None:
        due = self._pending.next_due() if self._may_act() else None
        wait = _LONGEST_SLEEP if due is None else due - self._clock.monotonic()
        try:
            async with asyncio.timeout(min(max(wait, _SHORTEST_SLEEP), _LONGEST_SLEEP)):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _carry_out(self, eviction: Eviction) -> None:
        if eviction.attempts == 1:
            self._recorder.record(eviction.pod, eviction_event(eviction.pod, eviction.finding))
        failure: ClusterError | None = None
        try:
            async with asyncio.timeout(self._attempt_timeout):
                outcome = await self._attempt(eviction)
        except ClusterError as error:
            outcome, failure = classify(error), error
            self._log_failure(eviction, outcome, error)
        except TimeoutError as error:
            outcome = Outcome.UNREACHABLE
            self._log_failure(eviction, outcome, error)
        self._metrics.attempts.labels(outcome.value).inc()
        self._settle(eviction, outcome, failure)

    async def _attempt(self, eviction: Eviction) -> Outcome:
        objection = self._objection(eviction, eviction.pod)
        if objection is not None:
            return _revoked(eviction, objection)
        # The answer shows the pod as it is this moment, and its version: a look before the leap.
        # The delete holds for that version only, so that one whose answer was lost, or that
        # another worker has sent, is never accepted a second time.
        pod = await self._actions.set_condition(eviction.pod, CONDITION, self._clock.now())
        objection = self._objection(eviction, pod)
        if objection is None:
            await self._actions.delete(pod, None)
            return Outcome.DELETED
        if objection.outcome is Outcome.KEPT and self._objection(eviction, eviction.pod) is None:
            # The watch has not told of it yet. It will, and then the evaluator cancels.
            return Outcome.CONFLICT
        return _revoked(eviction, objection)

    def _objection(self, eviction: Eviction, pod: Pod) -> _Objection | None:
        """What speaks against going on, by the core's word of this moment; None if nothing."""
        if eviction.revoked:
            return _Objection(Outcome.KEPT, eviction.revoked)
        finding = self._finding(pod)
        if finding is None or finding.verdict is Verdict.KEEP:
            why = finding.message if finding else "its node is not known"
            ended = pod.is_terminating or pod.is_finished
            return _Objection(Outcome.ENDED if ended else Outcome.KEPT, why)
        # The timer for this deadline has run out on the monotonic clock. Only another deadline
        # puts the eviction off, not a step of the wall clock.
        if finding.verdict is Verdict.EVICT_NOW or finding.evict_at == eviction.deadline:
            eviction.finding = finding
            return None
        return _Objection(Outcome.KEPT, finding.message)

    def _settle(self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None) -> None:
        retry = RETRIES.get(outcome)
        if retry is not None:
            if outcome is Outcome.DENIED and eviction.outcome != outcome.value:
                # Once, not with every try: only a person can mend it.
                self._recorder.record(eviction.pod, denial_event(eviction.pod, str(failure)))
            asked = failure.retry_after if failure else None
            delay = retry.delay(eviction.attempts, asked, self._rng)
            if not self._pending.settle_retry(eviction, outcome.value, delay):
                self._cancelled(eviction)
        elif outcome is Outcome.KEPT:
            self._pending.settle_dropped(eviction)
            self._cancelled(eviction)
        else:
            self._pending.settle_over(eviction, outcome.value)
            self._count(eviction, outcome)

    def _count(self, eviction: Eviction, outcome: Outcome) -> None:
        log.info(
            "pod evicted" if outcome is Outcome.DELETED else "pod was gone already",
            pod=eviction.pod.key,
            uid=eviction.uid,
            outcome=outcome.value,
            attempts=eviction.attempts,
            reason=eviction.finding.reason,
            cause=eviction.finding.message,
        )
        if outcome is Outcome.DELETED:
            self._metrics.deletions.inc()
            self._on_executed(eviction)
            late = self._clock.monotonic() - eviction.due
            self._metrics.deletion_duration.observe(max(0.0, late))

    def _cancelled(self, eviction: Eviction) -> None:
        """It had been announced and does not happen; a fresh look decides what comes next."""
        if not eviction.gone:
            self._metrics.cancelled.inc()
            note = cancellation_event(eviction.pod, eviction.revoked)
            self._recorder.record(eviction.pod, note)
            self._reevaluate(eviction.pod)

    def _log_failure(self, eviction: Eviction, outcome: Outcome, error: Exception) -> None:
        log.warning(
            "eviction attempt failed",
            pod=eviction.pod.key,
            uid=eviction.uid,
            outcome=outcome.value,
            attempts=eviction.attempts,
            error=str(error) or type(error).__name__,
        )


class _Objection(NamedTuple):
    """Why not to go on, and what the attempt has come to by that."""

    outcome: Outcome
    why: str


def _revoked(eviction: Eviction, objection: _Objection) -> Outcome:
    eviction.revoked = objection.why
    return objection.outcome
