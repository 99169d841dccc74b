"""Who was chosen goes, and is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.departures import LOOK_EVERY
from bailiff.agent.fates import Fate
from bailiff.decisions.pressure.findings import went_by_rank
from bailiff.decisions.pressure.grace import CLEAN_UP_SECONDS

if TYPE_CHECKING:
    from bailiff.agent.departures import Departures
    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.clock import SteadyTime
    from bailiff.decisions.decision import Finding
    from bailiff.kinds import Pod

# Seconds for which one is waited for whose containers were stopped: its kubelet starts them again.
_AFTER_STOP = 3.0
# Seconds until the next round after an eviction that failed: the node is still under pressure.
_AFTER_FAILURE = 2.0
# Seconds for which others go in the place of a pod whose eviction was refused.
_REFUSED_FOR = 60.0


class Evictions:
    """Carries out what a round has come to."""

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
        # Whose eviction was refused, and until when others go in its place, by elapsed time.
        self._refused: dict[str, float] = {}

    def refused_lately(self) -> frozenset[str]:
        """UIDs of pods in whose place others go."""
        elapsed = self._parts.clock.elapsed()
        self._refused = {uid: until for uid, until in self._refused.items() if elapsed < until}
        return frozenset(self._refused)

    async def carry_out(self, judged: Judged) -> float:
        """Evict its victims, and wait until they have left; seconds until the next round."""
        parts = self._parts
        if judged.waits:
            return LOOK_EVERY if judged.look_soon else parts.settings.interval
        unseen = self._departures.unseen(pod for pod, _ in judged.victims)
        fates = await self._evict_all(judged)
        if not fates or parts.settings.on_paper:
            # Where nobody leaves there is nothing to wait for, and nothing to follow up.
            return parts.settings.interval
        going = [
            pod
            for (pod, _), fate in zip(judged.victims, fates, strict=False)
            if fate in (Fate.EVICTED, Fate.STOPPED)
        ]
        if not going:
            return LOOK_EVERY if Fate.GONE in fates or Fate.REFUSED in fates else _AFTER_FAILURE
        seconds = _AFTER_STOP if Fate.STOPPED in fates else CLEAN_UP_SECONDS
        graces = [found.grace_period_seconds or 0 for _, found in judged.victims]
        await self._departures.until_left(going, seconds, unseen, max(graces))
        await self._departures.until_measured(going)
        parts.notifier.renew()
        return 0.0

    async def _evict_all(self, judged: Judged) -> list[Fate]:
        """What has become of each, until one over a limit of its own could not be evicted.

        Such a pod is no reason to let the node run out of memory: it, and others like it that would
        fail as well, are set aside for a while.
        """
        fates: list[Fate] = []
        for at, (pod, found) in enumerate(judged.victims):
            fates.append(await self._evict_one(pod, found, judged))
            if fates[-1] is Fate.FAILED and not went_by_rank(found):
                self._refuse(*(one for one, _ in judged.victims[at:]))
                break
        return fates

    async def _evict_one(self, pod: Pod, found: Finding, judged: Judged) -> Fate:
        parts = self._parts
        is_news = parts.standing.chosen(pod, found, parts.clock.now())
        if parts.settings.shadow:
            return self._would_evict(pod, found, is_news=is_news)
        hard = judged.is_hard and went_by_rank(found)
        fate = await parts.evictor.evict(pod, found, hard=hard)
        parts.metrics.evicted(found.cause, fate)
        match fate:
            case Fate.STOPPED:
                self._went(found)
                parts.remembering.stopped(pod, found, parts.clock.now())
                parts.teller.stopped()
            case Fate.EVICTED:
                self._went(found)
                parts.teller.evicted(pod, found)
            case Fate.GONE:
                # The watch will say so; until then nobody is to choose it again.
                parts.facts.forget(pod.metadata.uid)
            case Fate.REFUSED:
                self._refuse(pod)
        return fate

    def _would_evict(self, pod: Pod, found: Finding, *, is_news: bool) -> Fate:
        """A shadow tells, and counts, each pod once."""
        self._went(found)
        if is_news:
            why = found.message.strip()
            self._parts.log.info("would be evicted", pod=pod.key, uid=pod.metadata.uid, why=why)
            self._parts.metrics.evicted(found.cause, Fate.ON_PAPER)
        return Fate.ON_PAPER

    def _refuse(self, *pods: Pod) -> None:
        until = self._parts.clock.elapsed() + _REFUSED_FOR
        self._refused |= {one.metadata.uid: until for one in pods}

    def _went(self, found: Finding) -> None:
        """A cool-down begins, which has to be known after a restart though nobody has left yet."""
        parts, now = self._parts, self._steady.now()
        if went_by_rank(found):
            parts.judge.went(now)
            parts.remembering.note(parts.judge.note(now))
