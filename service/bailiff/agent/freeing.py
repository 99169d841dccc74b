"""The node frees what it can, while somebody keeps an eye on everything else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.agent.departures import LOOK_EVERY
from bailiff.agent.reading import ReadingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.planner import Planner
    from bailiff.agent.reading import Reading, Reclaimer
    from bailiff.decisions.pressure.layout import ReclaimStep

# Seconds: beyond those that a kubelet is given to measure anew.
_TO_MEASURE = 90.0


class Freeing:
    """Frees the node, in a task that rounds wait for; one for all rounds. Close it."""

    def __init__(
        self,
        parts: Parts,
        reclaimer: Reclaimer,
        planner: Planner,
        count: Callable[[Judged], Judged],
        ends: Callable[[], bool],
    ) -> None:
        """Nothing is freed yet.

        Args:
            parts: of the rounds.
            reclaimer: frees.
            planner: plans.
            count: a plan counts, and is told.
            ends: no more is to be done.
        """
        self._parts = parts
        self._reclaimer = reclaimer
        self._planner = planner
        self._count = count
        self._ends = ends
        self._task: asyncio.Task[Reading] | None = None
        self._steps: Sequence[ReclaimStep] = ()

    async def until_done(self, judged: Judged) -> Judged:
        """What it comes to once the node has freed what it can; it counts.

        That may take minutes, in which something else may run low. So somebody looks meanwhile, as
        often as there would be rounds, and each look counts as one: grace periods and conditions go
        on. Where a pod is to go nobody waits: what is freed goes on beside that, and is waited for
        by the next round.

        Args:
            judged: what the round has come to, with what is to be freed.

        Raises:
            ReadingError: what there is to free is not known, or nothing could be measured.
            FactsError: the configuration is one that no kubelet starts with.
        """
        parts, has_looked, pause = self._parts, False, self._parts.settings.interval
        freeing = self._begun(judged.report.reclaim)
        while not await self._ended_or_noticed(freeing, pause) and not self._ends():
            try:
                reading = await parts.source.read(parts.facts.pods)
                looked = self._count(self._planner.plan(reading, apart=True))
            except ReadingError as error:
                # One look that sees nothing; the next may.
                parts.metrics.unknown(error.reason)
                continue
            if looked.victims:
                return looked
            has_looked = True
            pause = LOOK_EVERY if looked.look_soon else parts.settings.interval
        if self._ends():
            return judged
        self._task = None
        after = freeing.result()
        if not has_looked:
            self._count(judged)
        # It was measured after the node was freed, whatever a look has seen of it since.
        parts.judge.nobody_went()
        return self._count(self._afterwards(judged, after))

    async def close(self) -> None:
        """What is not freed yet is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _begun(self, steps: Sequence[ReclaimStep]) -> asyncio.Task[Reading]:
        """The task, if one is under way, else a new one."""
        if self._task is None or self._task.done():
            self._steps = steps
            self._task = asyncio.create_task(self._free(steps))
            # Where nobody waits for it any more, what it fails with is told by the next.
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._task

    def _afterwards(self, judged: Judged, after: Reading) -> Judged:
        """A round of its own, by what was measured after the node was freed.

        So a pod goes only for what the node was freed for, if it is still low. The kubelet goes on
        where any threshold at all is met, by what it measured before (synchronize).
        """
        report = self._planner.preview(after).report
        is_same = report.starved == judged.report.starved and report.reclaim == self._steps
        return self._planner.plan(after, again=after if is_same else None)

    async def _free(self, steps: Sequence[ReclaimStep]) -> Reading:
        """What is measured afterwards."""
        await self._reclaimer.free(steps)
        try:
            async with asyncio.timeout(_TO_MEASURE):
                return await self._parts.source.read_anew(self._parts.facts.pods)
        except TimeoutError as error:
            why = f"what was freed could not be measured within {_TO_MEASURE:g} s"
            raise ReadingError("disks", why) from error

    async def _ended_or_noticed(self, freeing: asyncio.Task[Reading], pause: float) -> bool:
        """Wait until it has ended, something is noticed, or so many seconds are over."""
        wake = self._parts.wake
        noticing = asyncio.create_task(wake.wait(pause))
        try:
            await asyncio.wait({freeing, noticing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            noticing.cancel()
            (noticed,) = await asyncio.gather(noticing, return_exceptions=True)
        if not isinstance(noticed, tuple):
            return True
        by, ago = noticed
        if not freeing.done():
            self._parts.metrics.begun(by, ago)
            return False
        # Both at once: it is for the next round.
        for one in by:
            wake.notice(one)
        return True
