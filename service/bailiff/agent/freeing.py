"""The node frees what it can, while somebody keeps an eye on its memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

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
        ends: Callable[[], bool],
    ) -> None:
        """Prepare.

        Args:
            parts: of the round.
            reclaimer: frees.
            circumstances: of now.
            ends: no more is to be done.
        """
        self._parts = parts
        self._reclaimer = reclaimer
        self._circumstances = circumstances
        self._ends = ends

    async def until_done(self, judged: Judged, reading: Reading) -> tuple[Judged, Reading]:
        """What it comes to once the node has freed what it can.

        That may take minutes, in which memory may run low. So somebody looks meanwhile, as often as
        there would be rounds, and where a pod is to go for memory the clean-up is left: the next
        round goes on with it.

        Args:
            judged: what the round has come to, with what is to be freed.
            reading: by which it has.

        Raises:
            ReadingError: what there is to free is not known, or nothing could be measured.
            FactsError: the configuration is one that no kubelet starts with.
        """
        parts = self._parts
        freeing = asyncio.create_task(self._free(judged))
        try:
            while not await self._ended_or_noticed(freeing) and not self._ends():
                now = await parts.source.read(parts.facts.pods)
                looked = parts.judge.judge(now, self._circumstances())
                if looked.victims:
                    return looked, now
            if self._ends():
                return judged, reading
            return parts.judge.judge(reading, self._circumstances(), freeing.result()), reading
        finally:
            freeing.cancel()
            await asyncio.gather(freeing, return_exceptions=True)

    async def _free(self, judged: Judged) -> Reading:
        """What is measured afterwards."""
        await self._reclaimer.free(judged.report.reclaim)
        try:
            async with asyncio.timeout(_TO_MEASURE):
                return await self._parts.source.read_anew(self._parts.facts.pods)
        except TimeoutError as error:
            why = f"what was freed could not be measured within {_TO_MEASURE:g} s"
            raise ReadingError("disks", why) from error

    async def _ended_or_noticed(self, freeing: asyncio.Task[Reading]) -> bool:
        """Wait until it has ended, something is noticed, or a round would be due."""
        wake = self._parts.wake
        noticing = asyncio.create_task(wake.wait(self._parts.settings.interval))
        await asyncio.wait({freeing, noticing}, return_when=asyncio.FIRST_COMPLETED)
        if not freeing.done():
            return False
        noticing.cancel()
        (noticed,) = await asyncio.gather(noticing, return_exceptions=True)
        if isinstance(noticed, tuple):
            # Both at once: it is for the next round.
            for by in noticed[0]:
                wake.notice(by)
        return True
