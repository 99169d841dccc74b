"""Who was chosen goes, and is waited for."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from bailiff.agent.departures import LOOK_EVERY
from bailiff.agent.fates import Fate
from bailiff.decisions.pressure.findings import went_by_rank
from bailiff.decisions.pressure.grace import CLEAN_UP_SECONDS
from bailiff.tracing.pods import about_pod

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from bailiff.agent.departures import Departures
    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.settings import AgentSettings
    from bailiff.clock import Clock, SteadyTime
    from bailiff.decisions.decision import Finding
    from bailiff.kinds import Pod
    from bailiff.tracing import Attributes

# Seconds for which one is waited for whose containers were stopped: its kubelet starts them again.
_AFTER_STOP = 3.0
# Seconds until the next round after an eviction that failed: the node is still under pressure.
_AFTER_FAILURE = 2.0
# Seconds for which others go in the place of a pod whose eviction was refused.
_REFUSED_FOR = 60.0
# Seconds for all evictions of one round, after which somebody looks at the node again; and for
# which nobody goes for limits of their own where one of them could not, so that others may by rank.
_LONGEST_BATCH = 10.0
_SET_ASIDE_FOR = 10.0
# Seconds after which a limit of its own is told of again where nobody is evicted for it.
_TOLD_AGAIN = 60.0


class ForAWhile:
    """UIDs of pods about which something holds for a while."""

    def __init__(self, clock: Clock) -> None:
        """Of none yet; the clock counts the seconds."""
        self._clock = clock
        self._until: dict[str, float] = {}

    def add(self, pods: Iterable[Pod], seconds: float) -> None:
        """Of these from now on, for so long."""
        until = self._clock.elapsed() + seconds
        self._until |= {one.metadata.uid: until for one in pods}

    def now(self) -> frozenset[str]:
        """Of whom it holds now."""
        elapsed = self._clock.elapsed()
        self._until = {uid: until for uid, until in self._until.items() if elapsed < until}
        return frozenset(self._until)


class Evictions:
    """Carries out what a round has come to.

    Attributes:
        refused: whose eviction was refused, so that others go in their place.
    """

    def __init__(self, parts: Parts, departures: Departures, steady: SteadyTime) -> None:
        """Nobody was refused yet.

        Args:
            parts: of the rounds.
            departures: waits for who was evicted.
            steady: as rounds count time.
        """
        self._parts = parts
        self._departures = departures
        self._steady = steady
        self.refused = ForAWhile(parts.clock)
        self._aside = ForAWhile(parts.clock)
        # The last round was for limits of pods alone: the next is by rank.
        self._was_for_limits = False

    def set_aside_now(self) -> frozenset[str]:
        """UIDs of pods that do not go for limits of their own now.

        Those that cannot, for a while; and all after a round that was for such limits, so that pods
        that come over theirs one after the other do not let the node run out of memory.
        """
        all_of_them = self._parts.facts.pods if self._was_for_limits else ()
        return self._aside.now() | {one.metadata.uid for one in all_of_them}

    async def carry_out(self, judged: Judged) -> float:
        """Evict its victims, and wait until they have left; seconds until the next round."""
        parts = self._parts
        by_limits = [not went_by_rank(found) for _, found in judged.victims]
        self._was_for_limits = bool(by_limits) and all(by_limits)
        if judged.waits:
            self._take_back(())
            return LOOK_EVERY if judged.look_soon else parts.settings.interval
        unseen = self._departures.unseen(pod for pod, _ in judged.victims)
        with self._round_of(judged):
            fates = await self._evict_all(judged)
        tried = tuple(zip(judged.victims, fates, strict=False))
        self._take_back(pod for (pod, _), fate in tried if fate is Fate.FAILED)
        if not fates and not self.refused.now():
            parts.evictor.calm()
        if not fates or parts.settings.on_paper:
            # Where nobody leaves there is nothing to wait for, and nothing to follow up.
            return parts.settings.interval
        going = [one for one, fate in tried if fate in (Fate.EVICTED, Fate.STOPPED)]
        if not going:
            parts.judge.nobody_went()
            return LOOK_EVERY if Fate.GONE in fates or Fate.REFUSED in fates else _AFTER_FAILURE
        seconds = CLEAN_UP_SECONDS if Fate.EVICTED in fates else _AFTER_STOP
        longest = max(found.grace_period_seconds or 0 for _, found in going)
        pods = [pod for pod, _ in going]
        await self._departures.until_left(pods, seconds, unseen, longest)
        await self._departures.until_measured(pods)
        parts.notifier.renew()
        return 0.0

    def _round_of(self, judged: Judged) -> AbstractContextManager[object]:
        """A span of a round that evicts; a shadow's come again and again, with the same victims."""
        settings = self._parts.settings
        if not judged.victims or settings.shadow:
            return nullcontext()
        about = {"bailiff.pods": len(judged.victims), **_on_paper(settings)}
        return self._parts.tracer.span("pressure round", about)

    def _take_back(self, still_going: Iterable[Pod]) -> None:
        """What was announced of others; of those that were stopped the API server is told yet."""
        untold = {one.uid for one in self._parts.remembering.untold}
        if self._parts.evictor.announced.only({one.metadata.uid for one in still_going} | untold):
            self._parts.teller.wake()

    async def _evict_all(self, judged: Judged) -> list[Fate]:
        """What has become of each, as far as there was time.

        A pod over a limit of its own that cannot go is no reason to let the node run out of memory:
        it, and others like it that would fail as well, are set aside, so that the next round
        chooses by rank.
        """
        fates: list[Fate] = []
        until = self._parts.clock.elapsed() + _LONGEST_BATCH
        for at, (pod, found) in enumerate(judged.victims):
            fates.append(await self._evict_one(pod, found, judged))
            self._parts.standing.came_to(pod, fates[-1])
            if self._parts.settings.on_paper:
                self._set_aside(((pod, found),), _TOLD_AGAIN)
            is_late = self._parts.clock.elapsed() >= until
            is_stuck = fates[-1] is Fate.FAILED and not went_by_rank(found)
            if is_late or is_stuck:
                self._set_aside(judged.victims[at if is_stuck else at + 1 :], _SET_ASIDE_FOR)
                break
        return fates

    def _set_aside(self, victims: Iterable[tuple[Pod, Finding]], seconds: float) -> None:
        over = (pod for pod, found in victims if not went_by_rank(found))
        self._aside.add(over, seconds)

    async def _evict_one(self, pod: Pod, found: Finding, judged: Judged) -> Fate:
        parts = self._parts
        is_news = parts.standing.chosen(pod, found, parts.clock.now())
        if parts.settings.shadow:
            return self._would_evict(pod, found, is_news=is_news)
        starved = judged.report.starved
        is_freed = starved is not None and starved.is_freed_by_stopping
        hard = judged.is_hard and is_freed and went_by_rank(found)
        about = {**about_pod(pod, found.system), **_on_paper(parts.settings)}
        with parts.tracer.span("evict", about) as span:
            fate = await parts.evictor.evict(pod, found, hard=hard)
            span.set({"bailiff.outcome": fate.value})
            if fate in (Fate.FAILED, Fate.REFUSED):
                span.fail(fate.value)
        parts.metrics.evicted(found.cause, fate)
        match fate:
            case Fate.STOPPED:
                self._went(found)
                parts.remembering.stopped(pod, found, parts.clock.now())
                parts.teller.wake()
            case Fate.EVICTED:
                self._went(found)
                parts.teller.evicted(pod, found)
            case Fate.GONE:
                # The watch will say so; until then nobody is to choose it again.
                parts.facts.forget(pod.metadata.uid)
            case Fate.REFUSED:
                self.refused.add((pod,), _REFUSED_FOR)
        return fate

    def _would_evict(self, pod: Pod, found: Finding, *, is_news: bool) -> Fate:
        """A shadow tells, traces and counts each pod once."""
        parts = self._parts
        self._went(found)
        if is_news:
            why, outcome = found.message.strip(), {"bailiff.outcome": Fate.ON_PAPER.value}
            about = {**about_pod(pod, found.system), **_on_paper(parts.settings), **outcome}
            with parts.tracer.span("evict", about):
                parts.log.info("would be evicted", pod=pod.key, uid=pod.metadata.uid, why=why)
            parts.metrics.evicted(found.cause, Fate.ON_PAPER)
        return Fate.ON_PAPER

    def _went(self, found: Finding) -> None:
        """A cool-down begins, which has to be known after a restart though nobody has left yet."""
        parts, now = self._parts, self._steady.now()
        if went_by_rank(found):
            parts.judge.went(now)
            parts.remembering.note(parts.judge.note(now))


def _on_paper(settings: AgentSettings) -> Attributes:
    """Said of what was not done: else it would look like an eviction."""
    return {"bailiff.on_paper": True} if settings.on_paper else {}
