"""The node frees what it can, while somebody keeps an eye on everything else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.agent.departures import LOOK_EVERY
from bailiff.agent.reading import ReadingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.agent.judge import Circumstances, Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.reading import Reading, Reclaimer

# Seconds: beyond those that a kubelet is given to measure anew.
_TO_MEASURE = 90.0


class Freeing:
    """One clean-up of the node, as a part of one round."""

    def __init__(
        self,
        parts: Parts,
        reclaimer: Reclaimer,
        circumstances: Callable[[], Circumstances],
        *,
        apart: Callable[[Reading], Judged],
        count: Callable[[Judged], Judged],
        ends: Callable[[], bool],
    ) -> None:
        """Prepare.

        Args:
            parts: of the round.
            reclaimer: frees.
            circumstances: of now.
            apart: plans for all but what the node is freed for.
            count: a plan counts, and is told.
            ends: no more is to be done.
        """
        self._parts = parts
        self._reclaimer = reclaimer
        self._circumstances = circumstances
        self._apart = apart
        self._count = count
        self._ends = ends

    async def until_done(self, judged: Judged) -> Judged:
        """What it comes to once the node has freed what it can; it counts.

        That may take minutes, in which something else may run low. So somebody looks meanwhile, as
        often as there would be rounds, and each look counts as one: grace periods and conditions go
        on. Where a pod is to go the freeing is left: the next round goes on with it.

        Args:
            judged: what the round has come to, with what is to be freed.

        Raises:
            ReadingError: what there is to free is not known, or nothing could be measured.
            FactsError: the configuration is one that no kubelet starts with.
        """
        parts, has_looked, pause = self._parts, False, self._parts.settings.interval
        freeing = asyncio.create_task(self._free(judged))
        try:
            while not await self._ended_or_noticed(freeing, pause) and not self._ends():
                looked = self._count(self._apart(await parts.source.read(parts.facts.pods)))
                if looked.victims:
                    return looked
                has_looked = True
                pause = LOOK_EVERY if looked.look_soon else parts.settings.interval
            if self._ends():
                return judged
            after = freeing.result()
        finally:
            freeing.cancel()
            await asyncio.gather(freeing, return_exceptions=True)
        if not has_looked:
            self._count(judged)
        # It was measured after the node was freed, whatever a look has seen of it since.
        parts.judge.nobody_went()
        return self._count(self._afterwards(judged, after))

    def _afterwards(self, judged: Judged, after: Reading) -> Judged:
        """A round of its own, by what was measured after the node was freed.

        So a pod goes only for what the node was freed for, if it is still low. The kubelet goes on
        where any threshold at all is met, by what it measured before (synchronize).
        """
        judge, circumstances = self._parts.judge, self._circumstances()
        planned = judge.judge(after, circumstances)
        if planned.report.starved != judged.report.starved:
            return planned
        return judge.judge(after, circumstances, again=after)

    async def _free(self, judged: Judged) -> Reading:
        """What is measured afterwards."""
        await self._reclaimer.free(judged.report.reclaim)
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
