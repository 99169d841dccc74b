"""The loop: one round after the other, never two, and never beside a clean-up.

As Start and synchronize in pkg/kubelet/eviction/eviction_manager.go: a round every ten seconds, or
at once where the kernel has noticed something; after an eviction nothing until the pod is gone, for
half a minute at most, and then the next round at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.agent.clean_up import CLEAN_UP, LEAVES, LOOK_EVERY, CleanUp
from bailiff.agent.evicting import Fate
from bailiff.agent.freeing import Freeing
from bailiff.agent.judge import Circumstances, oldest
from bailiff.agent.reading import ReadingError
from bailiff.clock import Moment, SteadyTime
from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.findings import went_by_rank
from bailiff.decisions.pressure.observations import measured_at

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.reading import Reading
    from bailiff.decisions.decision import Finding
    from bailiff.kinds import Pod

# Seconds for which one is waited for whose containers were stopped: its kubelet starts them again.
_AFTER_STOP = 3.0
# Seconds until the next round after an eviction that failed: the node is still under pressure.
_AFTER_FAILURE = 2.0
# Reasons of ReadingError, see NodeFacts.check.
_TOLD_SOON = ("pods", "configuration")
# Seconds for which others go in the place of a pod whose eviction was refused.
_REFUSED_FOR = 60.0
# What is told where the node cannot be freed first.
_FREEING = "a disk, for which nobody goes"


class Rounds:
    """Runs them, in one task."""

    def __init__(self, parts: Parts) -> None:
        """Begin with the first round, as soon as `run` is called."""
        self._parts = parts
        self._steady = SteadyTime(parts.clock)
        self._measured: datetime | None = None
        self._seen_at: float | None = None
        self._ends = asyncio.Event()
        self._clean_up = CleanUp(
            parts.source, parts.facts, parts.clock, parts.log, self._ends.is_set
        )
        # Whose eviction was refused, and until when others go in its place, by elapsed time.
        self._refused: dict[str, float] = {}

    def end(self) -> None:
        """No more rounds: `run` returns as soon as an eviction that is under way has ended."""
        self._ends.set()
        self._parts.wake.notice("end")

    async def run(self) -> None:
        """Rounds until `end` is called."""
        pause = 0.0
        while not self._ends.is_set():
            by, ago = await self._parts.wake.wait(pause)
            if self._ends.is_set():
                return
            self._parts.metrics.begun(by, ago)
            began = self._parts.clock.monotonic()
            self._parts.log.debug("round", by=sorted(by), monotonic=began)
            pause = await self.one()
            self._parts.standing.rounded()

    async def one(self) -> float:
        """One round, with what it comes to; seconds until the next is due by time."""
        parts = self._parts
        try:
            planned = await self._plan()
        except ReadingError as error:
            return self._lose_sight(error.reason, error.message)
        except FactsError as error:
            return self._lose_sight("configuration", f"its configuration cannot be: {error}")
        except Exception:
            parts.log.exception("a round could not be planned")
            return self._lose_sight("failed", "a round could not be planned, see the log")
        return await self._carry_out(*planned)

    async def _carry_out(self, judged: Judged, reading: Reading) -> float:
        parts = self._parts
        if self._has_time(judged) and self._clean_up.are_leaving():
            judged = judged._replace(victims=(), waits=LEAVES)
        try:
            parts.judge.take(judged, reading, parts.clock.elapsed())
            self._tell(judged)
            pause = await self._evict(judged)
            parts.remembering.note(parts.judge.note(self._steady.now()))
        except Exception:
            parts.log.exception("a round could not be carried out")
            return self._lose_sight("failed", "a round could not be carried out, see the log")
        return pause

    def _has_time(self, judged: Judged) -> bool:
        """Whether somebody goes by rank for a soft threshold."""
        return not judged.is_hard and any(went_by_rank(found) for _, found in judged.victims)

    async def _plan(self) -> tuple[Judged, Reading]:
        """What the round comes to, the node freed first.

        Raises:
            ReadingError: nothing is known.
            FactsError: the configuration is one that no kubelet starts with.
        """
        parts = self._parts
        parts.facts.check()
        await self._clean_up.of_before()
        reading = await parts.source.read(parts.facts.pods)
        self._check_age(reading)
        circumstances = self._circumstances()
        judged = parts.judge.judge(reading, circumstances)
        if not judged.report.reclaim or parts.reclaimer is None or judged.victims:
            parts.standing.silent(_FREEING, "")
            return judged, reading
        parts.teller.tell(judged.report.events)
        freeing = Freeing(parts, parts.reclaimer, self._circumstances, self._ends.is_set)
        try:
            freed = await freeing.until_done(judged, reading)
        except ReadingError as error:
            # Nobody goes for the disk; memory, grace periods and conditions go on.
            if parts.standing.silent(_FREEING, error.message):
                parts.log.warning("nobody is evicted for a disk", why=error.message)
            parts.metrics.unknown(error.reason)
            return judged, reading
        parts.standing.silent(_FREEING, "")
        return freed

    def _circumstances(self) -> Circumstances:
        parts = self._parts
        moment = Moment(self._steady.now(), parts.clock.elapsed())
        return Circumstances(
            node=parts.facts.node,
            pods=oldest(parts.facts.pods),
            configuration=parts.facts.configuration,
            moment=moment,
            wall=parts.clock.now(),
            found_layout=parts.source.layout(),
            refused=self._refused_lately(moment.elapsed),
        )

    def _refused_lately(self, elapsed: float) -> frozenset[str]:
        self._refused = {uid: until for uid, until in self._refused.items() if elapsed < until}
        return frozenset(self._refused)

    def _check_age(self, reading: Reading) -> None:
        """Refuse what was measured long ago, counted by our own time since it last moved.

        Raises:
            ReadingError: nothing new was measured for too long.
        """
        measured, elapsed = measured_at(reading.node), self._parts.clock.elapsed()
        if self._seen_at is None or measured is None or measured != self._measured:
            self._measured, self._seen_at = measured, elapsed
        age = elapsed - self._seen_at
        if age > self._parts.settings.stale_after:
            raise ReadingError("stale", f"nothing new was measured for {age:.0f} s")

    def _lose_sight(self, reason: str, why: str) -> float:
        parts = self._parts
        if parts.standing.lose_sight(why):
            # What is not known yet when an agent starts is no reason to worry.
            say = parts.log.info if reason in _TOLD_SOON else parts.log.warning
            say("nobody is evicted", why=why)
        parts.metrics.unknown(reason)
        return parts.settings.interval

    def _tell(self, judged: Judged) -> None:
        parts = self._parts
        if parts.standing.judged(judged, parts.clock.now()):
            parts.log.info("the node is known")
        if parts.standing.waits(judged.waits):
            parts.log.warning("nobody is evicted yet", why=judged.waits)
        parts.metrics.judged(judged.report)
        parts.teller.tell(judged.report.events)
        parts.teller.publish(judged.report.conditions)
        parts.notifier.rearm(judged.marks)

    async def _evict(self, judged: Judged) -> float:
        """Seconds until the next round."""
        parts = self._parts
        unseen = self._clean_up.unseen(pod for pod, _ in judged.victims)
        fates = await self._evict_all(judged)
        if judged.waits:
            # A pod that has ended uses its memory for a moment only.
            return LOOK_EVERY
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
        seconds = _AFTER_STOP if Fate.STOPPED in fates else CLEAN_UP
        graces = [found.grace_period_seconds or 0 for _, found in judged.victims]
        await self._clean_up.until_left(going, seconds, unseen, max(graces))
        await self._clean_up.until_measured(going)
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
            if (
                fates[-1] is Fate.FAILED
                and not went_by_rank(found)
                and not self._parts.settings.on_paper
            ):
                until = self._parts.clock.elapsed() + _REFUSED_FOR
                self._refused |= {one.metadata.uid: until for one, _ in judged.victims[at:]}
                break
        return fates

    async def _evict_one(self, pod: Pod, found: Finding, judged: Judged) -> Fate:
        parts, uid = self._parts, pod.metadata.uid
        is_news = parts.standing.chosen(pod, found, parts.clock.now())
        if parts.settings.shadow:
            self._went(found)
            if is_news:
                why = found.message.strip()
                parts.log.info("would be evicted", pod=pod.key, uid=pod.metadata.uid, why=why)
            return Fate.FAILED
        hard = judged.is_hard and went_by_rank(found)
        fate = await parts.evictor.evict(pod, found, hard=hard)
        parts.metrics.evicted(found.cause, fate)
        match fate:
            case Fate.STOPPED:
                self._went(found)
                parts.remembering.stopped(pod, found)
                parts.teller.stopped()
            case Fate.EVICTED:
                self._went(found)
                parts.teller.evicted(pod, found)
            case Fate.GONE:
                # The watch will say so; until then nobody is to choose it again.
                parts.facts.forget(uid)
            case Fate.REFUSED:
                self._refused[uid] = parts.clock.elapsed() + _REFUSED_FOR
        return fate

    def _went(self, found: Finding) -> None:
        """A cool-down begins, which has to be known after a restart though nobody has left yet."""
        parts, now = self._parts, self._steady.now()
        if went_by_rank(found):
            parts.judge.went(now)
            parts.remembering.note(parts.judge.note(now))
