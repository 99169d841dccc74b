"""Carries out what is due: at most so many at a time, earliest first, until each is over."""

from __future__ import annotations

import asyncio
import random
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.cluster import PODS, ClusterError, DisruptionBudgetError
from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.execute.outcomes import RETRIES, Outcome, classify
from bailiff.worker.mirror.mirror import pod_key
from bailiff.worker.timers.eviction import By
from bailiff.worker.timers.queue import LONGEST_SLEEP, sleep
from bailiff.worker.timers.waits import waits_of

if TYPE_CHECKING:
    from bailiff.worker.execute.attempt import Attempt
    from bailiff.worker.gate import Gate
    from bailiff.worker.gate.consent import Consent
    from bailiff.worker.observe.telling import Teller
    from bailiff.worker.systems.system import Parts
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

# A condition that announces an eviction which does not come within so many seconds is taken back.
_SOON = 60.0
# A backoff of up to so many seconds is left to the requests, which learn when it ends early, and
# one that may do so lasts hardly more than a second (cluster/pace.py).
_BRIEF = 2.0
# How long to wait for the watch to tell of a pod that has changed, before it is tried all the same.
_NEWS_WITHIN = 5.0


class Executor:
    """A fixed number of tasks that take evictions when they fall due."""

    def __init__(
        self,
        parts: Parts,
        pending: PendingEvictions,
        gate: Gate,
        attempt: Attempt,
        consent: Consent,
        teller: Teller,
        earlier: asyncio.Event,
    ) -> None:
        """Prepare.

        Args:
            parts: of the worker. `settings` says how many at a time, and how long an attempt may
                take; nothing is taken while the API server is to be left alone for more than two
                seconds (`actions.backoff`).
            pending: where evictions go back to.
            gate: where they come from.
            attempt: how one is tried.
            consent: what is asked right before.
            teller: told of what becomes of each.
            earlier: set when the first timer has moved to an earlier instant, or it is this
                worker's turn to act.
        """
        self._actions = parts.actions
        self._clock = parts.clock
        self._election = parts.election
        self._marks = parts.marks
        self._metrics = parts.metrics
        self._settings = parts.settings
        self._pending = pending
        self._gate = gate
        self._attempt = attempt
        self._consent = consent
        self._teller = teller
        self._changed = earlier
        self._traces = teller.traces
        self._rng = random.Random()  # noqa: S311 - jitter, no secret
        self._turn = asyncio.Lock()
        self._stopping = False

    def stop(self) -> None:
        """Take nothing more; `run` returns when what runs is through."""
        self._stopping = True
        self._changed.set()

    async def run(self) -> None:
        """Carry out until stopped."""
        async with asyncio.TaskGroup() as consumers:
            for _ in range(self._settings.concurrency):
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
                await sleep(self._changed, self._wait())
            return None

    def _may_take(self) -> bool:
        return self._election.may_act() and not self._backoff()

    def _backoff(self) -> float:
        seconds = self._actions.backoff()
        return seconds if seconds > _BRIEF else 0.0

    def _wait(self) -> float:
        """Seconds until there may be something to take."""
        due = self._gate.next_due() if self._may_take() else None
        wait = LONGEST_SLEEP if due is None else due - self._clock.elapsed()
        return self._backoff() or wait

    async def _carry_out(self, eviction: Eviction) -> None:
        if self._consent.is_needed:
            await self._carry_out_by_consent(eviction)
        else:
            await self._try(eviction)
        self._gate.finished(eviction)

    async def _carry_out_by_consent(self, eviction: Eviction) -> None:
        try:
            hold = await self._consent(eviction, self._attempt.rehearse)
        except ClusterError as error:
            await self._try(eviction, error)
            return
        if hold is None and not eviction.is_off:
            await self._try(eviction)
        else:
            self._hold_back(eviction, hold)

    async def _try(self, eviction: Eviction, refusal: ClusterError | None = None) -> None:
        """Make an attempt; with a refusal it has had its answer."""
        # Not around the consent: who is held by that was not tried.
        with nullcontext() if self._traces is None else self._traces.attempt(eviction):
            await self._try_now(eviction, refusal)

    async def _try_now(self, eviction: Eviction, refusal: ClusterError | None) -> None:
        self._teller.begins(eviction)
        failure: ClusterError | None = None
        try:
            if refusal is not None:
                raise refusal
            async with asyncio.timeout(self._settings.attempt_timeout):
                outcome = await self._attempt(eviction)
        except ClusterError as error:
            outcome, failure = classify(error, PODS, eviction.pod.metadata.name), error
            self._teller.failed(eviction, outcome, error)
        except TimeoutError as error:
            outcome = Outcome.UNREACHABLE
            self._teller.failed(eviction, outcome, error)
        self._metrics.attempts.labels(outcome.value).inc()
        if self._traces is not None:
            self._traces.came_to(eviction, outcome)
        self._settle(eviction, outcome, failure)

    def _hold_back(self, eviction: Eviction, hold: Hold | None) -> None:
        """It was not begun after all. Where the gate knows why by now, it waits there.

        None: it is not wanted any more.
        """
        eviction.attempts -= 1
        outcome, times = Outcome.UNCOUNTED, 1
        if hold is not None:
            self._wait_for(eviction, hold)
            times = 1 if hold.until is not None else eviction.count_failure(outcome.value)
        delay = RETRIES[outcome].delay(times, None, self._rng)
        if not self._pending.settle_retry(eviction, outcome.value, delay):
            self._cancelled(eviction)

    def _wait_for(self, eviction: Eviction, hold: Hold) -> None:
        waits = waits_of(eviction)
        waits.begin(hold, self._clock.elapsed())
        if not waits.told:
            waits.told = True
            self._teller.held(eviction, hold)

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
            self._teller.over(eviction, outcome)

    def _put_off(self, eviction: Eviction) -> None:
        left = (eviction.deadline - self._clock.now()).total_seconds()
        if left > _SOON:
            self._teller.spared(eviction)
        if self._pending.settle_put_off(eviction):
            self._teller.again(eviction, Outcome.PUT_OFF)
        else:
            self._cancelled(eviction)

    def _lapse(self, eviction: Eviction) -> float | None:
        """Seconds for the watch to tell that the pod is gone, or going; None: it never will."""
        if self._settings.on_paper:
            return None
        times = eviction.count_failure(Outcome.SURVIVED.value)
        return RETRIES[Outcome.SURVIVED].delay(times, None, self._rng)

    def _try_again(
        self, eviction: Eviction, outcome: Outcome, failure: ClusterError | None
    ) -> None:
        if outcome.value != eviction.outcome:
            # Once, not with every try.
            self._teller.refused(eviction, outcome, failure)
        if outcome is Outcome.FENCED:
            # Nothing was sent, and perhaps nobody told: the next attempt is the first.
            eviction.attempts -= 1
        times = eviction.count_failure(outcome.value)
        if outcome is Outcome.DENIED and times > 1:
            # Whoever denies twice is in no hurry, and the pod lives on.
            self._teller.spared(eviction)
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
        if self._pending.settle_retry(eviction, outcome.value, delay, until_news=outdated):
            self._teller.again(eviction, outcome)
        else:
            self._cancelled(eviction)

    def _wait_for_budget(
        self, eviction: Eviction, failure: DisruptionBudgetError, delay: float
    ) -> None:
        until = self._clock.now() + timedelta(seconds=delay)
        hold = Hold(cause=Cause.BUDGET, message=failure.budget, until=until)
        waits_of(eviction).begin(hold, self._clock.elapsed())

    def _cancelled(self, eviction: Eviction) -> None:
        """It had been announced and does not happen; a fresh look decides what comes next."""
        if eviction.gone or eviction.leaving:
            self._teller.ended(eviction, Outcome.GONE if eviction.gone else Outcome.ENDED)
        else:
            self._teller.dropped(eviction, eviction.revoked)
            self._marks.look_at_pods((pod_key(eviction.pod),))
