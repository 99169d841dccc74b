"""Carries out what is due: at most so many at a time, earliest first, until each is over."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import PODS, ClusterError, DisruptionBudgetError
from bailiff.decisions import cancellation_event, denial_event, device_taints, eviction_event
from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.execute.outcomes import RETRIES, Outcome, classify
from bailiff.worker.observe.policy_events import blocked_event
from bailiff.worker.timers.eviction import By
from bailiff.worker.timers.waits import waits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.decisions import EventNote
    from bailiff.kinds import Pod
    from bailiff.worker.execute.attempt import Attempt
    from bailiff.worker.gate import Gate
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.observe.recorder import Recorder
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

# The longest sleep. The event loop waits by CLOCK_MONOTONIC, which knows nothing of a wall clock
# that was put right, and stands still while the machine is suspended: so the clocks that decide
# what is due are looked at again after this, and nothing is later than this for their sake.
_LONGEST_SLEEP = 1.0
# Below this a timer may fire at the very instant it was set and find nothing due, again and again.
_SHORTEST_SLEEP = 0.001
# A condition that announces an eviction which does not come within so many seconds is taken back.
_SOON = 60.0
# Holds of up to so many seconds are left to the requests, which learn when one ends early, and one
# that may do so lasts hardly more than a second (cluster/pace.py).
_BRIEF = 2.0
# How long to wait for the watch to tell of a pod that has changed, before it is tried all the same.
_NEWS_WITHIN = 5.0

log = structlog.get_logger(__name__)


class Executor:
    """A fixed number of tasks that take evictions when they fall due."""

    def __init__(
        self,
        pending: PendingEvictions,
        gate: Gate,
        attempt: Attempt,
        recorder: Recorder,
        metrics: WorkerMetrics,
        clock: Clock,
        *,
        reevaluate: Callable[[Pod], None],
        concurrency: int,
        attempt_timeout: float,
        may_act: Callable[[], bool] = lambda: True,
        held: Callable[[], float] = lambda: 0.0,
        on_executed: Callable[[Eviction], None] = lambda _: None,
        on_spared: Callable[[Eviction], None] = lambda _: None,
        on_paper: bool = False,
        rng: random.Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            pending: where evictions go back to.
            gate: where they come from.
            attempt: how one is tried.
            recorder: for Events.
            metrics: for counts.
            clock: for instants and elapsed time.
            reevaluate: asks for a fresh look at a pod whose eviction was dropped.
            concurrency: evictions at a time.
            attempt_timeout: seconds one attempt may take.
            may_act: whether this worker is the one to act, this moment; `wake` it when that
                comes true.
            held: seconds for which the API server is to be left alone; nothing is taken while
                they are more than two.
            on_executed: told of each eviction that the API server has taken.
            on_spared: told of each eviction whose pod may carry its condition, and will not go
                soon.
            on_paper: pods stay whatever was answered, as in a dry run.
            rng: for the jitter of retries.
        """
        self._pending = pending
        self._gate = gate
        self._attempt = attempt
        self._recorder = recorder
        self._metrics = metrics
        self._clock = clock
        self._reevaluate = reevaluate
        self._concurrency = concurrency
        self._attempt_timeout = attempt_timeout
        self._may_act = may_act
        self._requests_held = held
        self._on_executed = on_executed
        self._on_spared = on_spared
        self._on_paper = on_paper
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
                eviction = self._gate.take() if self._may_take() else None
                if eviction is not None:
                    return eviction
                await self._sleep()
            return None

    def _may_take(self) -> bool:
        return self._may_act() and not self._held()

    def _held(self) -> float:
        seconds = self._requests_held()
        return seconds if seconds > _BRIEF else 0.0

    async def _sleep(self) -> None:
        due = self._gate.next_due() if self._may_take() else None
        wait = _LONGEST_SLEEP if due is None else due - self._clock.elapsed()
        wait = self._held() or wait
        try:
            async with asyncio.timeout(min(max(wait, _SHORTEST_SLEEP), _LONGEST_SLEEP)):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _carry_out(self, eviction: Eviction) -> None:
        if eviction.attempts == 1:
            self._tell(eviction, eviction_event(eviction.pod, eviction.finding))
        failure: ClusterError | None = None
        try:
            async with asyncio.timeout(self._attempt_timeout):
                outcome = await self._attempt(eviction)
        except ClusterError as error:
            outcome, failure = classify(error, PODS, eviction.pod.metadata.name), error
            self._log_failure(eviction, outcome, error)
        except TimeoutError as error:
            outcome = Outcome.UNREACHABLE
            self._log_failure(eviction, outcome, error)
        self._metrics.attempts.labels(outcome.value).inc()
        self._settle(eviction, outcome, failure)
        self._gate.finished(eviction)

    def _settle(self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None) -> None:
        if eviction.waits is not None:
            eviction.waits.end(self._clock.elapsed())
        if outcome in RETRIES:
            self._try_again(eviction, outcome, failure)
        elif outcome is Outcome.PUT_OFF:
            self._put_off(eviction)
        elif outcome is Outcome.KEPT:
            self._pending.settle_dropped(eviction)
            self._cancelled(eviction)
        else:
            self._pending.settle_over(eviction, outcome.value, self._lapse(eviction))
            self._count(eviction, outcome)

    def _put_off(self, eviction: Eviction) -> None:
        left = (eviction.deadline - self._clock.now()).total_seconds()
        if left > _SOON:
            self._spare(eviction)
        if not self._pending.settle_put_off(eviction):
            self._cancelled(eviction)

    def _lapse(self, eviction: Eviction) -> float | None:
        """Seconds for the watch to tell that the pod is gone, or going; None: it never will."""
        if self._on_paper:
            return None
        times = eviction.count_failure(Outcome.SURVIVED.value)
        return RETRIES[Outcome.SURVIVED].delay(times, None, self._rng)

    def _spare(self, eviction: Eviction) -> None:
        if eviction.marked:
            eviction.marked = False
            self._on_spared(eviction)

    def _try_again(
        self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None
    ) -> None:
        if outcome.value != eviction.outcome:
            # Once, not with every try.
            self._tell_people(eviction, outcome, failure)
        if outcome is Outcome.FENCED:
            # Nothing was sent, and perhaps nobody told: the next attempt is the first.
            eviction.attempts -= 1
        times = eviction.count_failure(outcome.value)
        if outcome is Outcome.DENIED and times > 1:
            # Whoever denies twice is in no hurry, and the pod lives on.
            self._spare(eviction)
        asked = failure.retry_after if failure else None
        delay = RETRIES[outcome].delay(times, asked, self._rng)
        if outcome is Outcome.BLOCKED:
            delay = self._attempt.until_override(eviction, delay)
        if isinstance(failure, DisruptionBudgetError):
            self._wait_for_budget(eviction, failure, delay)
        # The Eviction API charges the budget before it looks at the version: an outdated one is
        # not tried again before there is news.
        outdated = outcome is Outcome.CONFLICT and eviction.by is By.EVICTION_API
        delay = max(delay, _NEWS_WITHIN) if outdated else delay
        if not self._pending.settle_retry(eviction, outcome.value, delay, until_news=outdated):
            self._cancelled(eviction)

    def _tell_people(
        self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None
    ) -> None:
        if outcome is Outcome.DENIED:
            # Only a person can mend it.
            self._tell(eviction, denial_event(eviction.pod, str(failure)))
        elif isinstance(failure, DisruptionBudgetError):
            self._tell(eviction, blocked_event(eviction.pod, failure.budget))

    def _wait_for_budget(
        self, eviction: Eviction, failure: DisruptionBudgetError, delay: float
    ) -> None:
        until = self._clock.now() + timedelta(seconds=delay)
        hold = Hold(cause=Cause.BUDGET, message=failure.budget, until=until)
        waits_of(eviction).begin(hold, self._clock.elapsed())

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
            self._count_deletion(eviction)
            self._on_executed(eviction)

    def _count_deletion(self, eviction: Eviction) -> None:
        metrics = self._metrics
        late = max(0.0, self._clock.elapsed() - eviction.due)
        metrics.evictions.labels(eviction.by.value).inc()
        metrics.lateness.observe(late)
        if eviction.finding.system == device_taints.SYSTEM:
            metrics.device_deletions.inc()
            metrics.device_deletion_duration.observe(late)
        else:
            metrics.deletions.inc()
            metrics.deletion_duration.observe(late)

    def _cancelled(self, eviction: Eviction) -> None:
        """It had been announced and does not happen; a fresh look decides what comes next."""
        if not eviction.gone:
            self._spare(eviction)
            self._metrics.cancelled.inc()
            system = eviction.finding.system
            self._tell(eviction, cancellation_event(eviction.pod, eviction.revoked, system))
            self._reevaluate(eviction.pod)

    def _tell(self, eviction: Eviction, note: EventNote) -> None:
        self._recorder.record(eviction.pod, note, eviction.finding.system)

    def _log_failure(self, eviction: Eviction, outcome: Outcome, error: Exception) -> None:
        log.warning(
            "eviction attempt failed",
            pod=eviction.pod.key,
            uid=eviction.uid,
            outcome=outcome.value,
            attempts=eviction.attempts,
            error=str(error) or type(error).__name__,
        )
