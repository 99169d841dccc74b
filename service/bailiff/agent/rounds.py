"""The loop: one round after the other, never two, and never beside a clean-up.

As Start and synchronize in pkg/kubelet/eviction/eviction_manager.go: a round every ten seconds, or
at once where the kernel has noticed something; after an eviction nothing until the pod is gone, for
half a minute at most, and then the next round at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.agent.departures import Departures
from bailiff.agent.evictions import Evictions
from bailiff.agent.freeing import Freeing
from bailiff.agent.planner import Planner
from bailiff.agent.reading import ReadingError
from bailiff.clock import SteadyTime
from bailiff.decisions.cost import FactsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.reading import Reclaimer
    from bailiff.kinds import Pod

# Reasons of ReadingError, see NodeFacts.check.
_TOLD_SOON = ("pods", "configuration")
# What is told where the node cannot be freed first.
_FREEING = "a disk, for which nobody goes"


class Rounds:
    """Runs them, in one task."""

    def __init__(self, parts: Parts) -> None:
        """Begin with the first round, as soon as `run` is called."""
        self._parts = parts
        self._steady = SteadyTime(parts.clock)
        self._ends = asyncio.Event()
        self._departures = Departures(
            parts.source, parts.facts, parts.clock, parts.log, self._ends.is_set
        )
        self._evictions = Evictions(parts, self._departures, self._steady)
        self._planner = Planner(parts, self._departures, self._evictions, self._steady)
        self._has_looked_back = False
        self._freeing: Freeing | None = None

    def end(self) -> None:
        """No more rounds: `run` returns as soon as an eviction that is under way has ended."""
        self._ends.set()
        self._parts.wake.notice("end")

    async def run(self) -> None:
        """Rounds until `end` is called."""
        pause = 0.0
        try:
            while not self._ends.is_set():
                by, ago = await self._parts.wake.wait(pause)
                if self._ends.is_set():
                    return
                self._parts.metrics.begun(by, ago)
                began = self._parts.clock.monotonic()
                self._parts.log.debug("round", by=sorted(by), monotonic=began)
                pause = await self.one()
                self._parts.standing.rounded()
        finally:
            if self._freeing is not None:
                await self._freeing.close()

    async def one(self) -> float:
        """One round, with what it comes to; seconds until the next is due by time."""
        parts = self._parts
        try:
            judged = await self._plan()
        except ReadingError as error:
            return self._lose_sight(error.reason, error.message)
        except FactsError as error:
            return self._lose_sight("invalid", f"its configuration cannot be: {error}")
        except Exception:
            parts.log.exception("a round could not be planned")
            return self._lose_sight("failed", "a round could not be planned, see the log")
        try:
            return await self._evictions.carry_out(judged)
        except Exception:
            parts.log.exception("a round could not be carried out")
            return self._lose_sight("failed", "a round could not be carried out, see the log")

    async def _plan(self) -> Judged:
        """What the round comes to, the node freed first; it counts, and is told.

        Raises:
            ReadingError: nothing is known.
            FactsError: the configuration is one that no kubelet starts with.
        """
        parts = self._parts
        parts.facts.check()
        if not self._has_looked_back:
            self._has_looked_back = True
            parts.evictor.announced.recall(parts.facts.pods)
            await self._departures.of_before(self._say_who_leaves)
        judged = self._planner.plan(await parts.source.read(parts.facts.pods))
        if judged.report.reclaim and not judged.victims and parts.reclaimer is not None:
            return await self._freed(judged, parts.reclaimer)
        parts.standing.complain(_FREEING, "")
        return self._count(judged)

    def _say_who_leaves(self, pods: Sequence[Pod]) -> None:
        names = ", ".join(sorted(one.key for one in pods))
        why = f"an agent of before has evicted {names}, which has not left yet"
        self._parts.standing.lose_sight("departures", why)
        self._parts.log.info("nobody is evicted yet", why=why)

    async def _freed(self, judged: Judged, reclaimer: Reclaimer) -> Judged:
        parts = self._parts
        # It may take minutes until something counts.
        self._tell(judged)
        try:
            freed = await self._reclaiming(reclaimer).until_done(judged)
        except ReadingError as error:
            # Nobody goes for the disk; memory, processes, grace periods and conditions go on.
            if parts.standing.complain(_FREEING, error.message):
                parts.log.warning("nobody is evicted for a disk", why=error.message)
            parts.metrics.unknown(error.reason)
            reading = await parts.source.read(parts.facts.pods)
            return self._count(self._planner.plan(reading, apart=True))
        parts.standing.complain(_FREEING, "")
        return freed

    def _reclaiming(self, reclaimer: Reclaimer) -> Freeing:
        """The one for all rounds: what it frees goes on while somebody is evicted."""
        if self._freeing is None:
            ways = (self._planner, self._count, self._ends.is_set)
            self._freeing = Freeing(self._parts, reclaimer, *ways)
        return self._freeing

    def _count(self, judged: Judged) -> Judged:
        """This plan counts: the next goes on by what it leaves, and it is told."""
        parts = self._parts
        parts.judge.take(judged, parts.clock.elapsed())
        self._tell(judged)
        parts.remembering.note(parts.judge.note(self._steady.now()))
        return judged

    def _lose_sight(self, reason: str, why: str) -> float:
        parts = self._parts
        if parts.standing.lose_sight(reason, why):
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
        for one in parts.standing.met_anew(judged.report):
            parts.log.info("threshold met", signal=one.threshold.signal, left=one.available)
        parts.teller.tell(judged.report.events)
        parts.teller.publish(judged.report.conditions)
        parts.notifier.rearm(judged.marks)
