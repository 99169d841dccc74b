"""Snapshots of the worker, kept and written down by the thread that answers observers.

What one of them asks for is there for all others until it is a second old. What is older is asked
for anew, and if that takes too long the older one is told, with its age. An idle worker does
nothing for observers that are not there.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from bailiff.worker.observe.wanted import Line, line_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.worker.observe.wanted import Taken, Wanted

# Seconds for which one is as good as new.
FRESH = 1.0
# Seconds after which one is not told any more: then the worker's loop is stuck.
OLDEST = 10.0
# Seconds that a request waits for a new one, where there is an older one, and where there is none.
_PATIENCE, _PATIENCE_WITHOUT = 1.0, 5.0
# Snapshots that are kept, of up to 0.5 MB.
_MOST_KEPT = 16
# Different ones that are waited for at a time, by line; of the usual there are four.
_MOST_ASKED = {Line.USUAL: 4, Line.NAMED: 64, Line.OTHER: 8}


class BusyError(Exception):
    """Too many want to see something else, or the worker has no time; ask again later."""


class Kept(NamedTuple):
    """A snapshot as it is told.

    Attributes:
        at: when it was taken, in the monotonic seconds of the worker's clock.
        told: as it is written down.
    """

    at: float
    told: Any


class Snapshots:
    """Keeps what was taken last. One event loop owns it, which need not be the worker's."""

    def __init__(
        self,
        ask: Callable[[Wanted], Awaitable[Taken]],
        write: Callable[[Wanted, Taken], Awaitable[Any]],
        now: Callable[[], float],
    ) -> None:
        """Keep nothing yet.

        Args:
            ask: for a new one.
            write: what is told of it.
            now: the monotonic seconds by which they are taken.
        """
        self._ask, self._write, self._now = ask, write, now
        self._kept: OrderedDict[Wanted, Kept] = OrderedDict()
        self._under_way: dict[Wanted, asyncio.Task[Kept]] = {}

    def age(self, kept: Kept) -> float:
        """How old it is, in seconds."""
        return max(0.0, self._now() - kept.at)

    def fresh(self, wanted: Wanted) -> Kept | None:
        """The one that is here, if it is as good as new."""
        kept = self._kept.get(wanted)
        return kept if kept is not None and self.age(kept) < FRESH else None

    async def get(self, wanted: Wanted) -> Kept:
        """The newest that there is, or can be had in time.

        Raises:
            BusyError: there is none that is not too old.
        """
        kept = self.fresh(wanted)
        if kept is not None:
            return kept
        older = self._kept.get(wanted)
        try:
            task = self._under_way.get(wanted) or self._begin(wanted)
            async with asyncio.timeout(_PATIENCE if older else _PATIENCE_WITHOUT):
                return await asyncio.shield(task)
        except TimeoutError:
            error = BusyError("the worker is busy")
        except BusyError as refused:
            error = refused
        if older is None or self.age(older) > OLDEST:
            raise error
        return older

    def _begin(self, wanted: Wanted) -> asyncio.Task[Kept]:
        line = line_of(wanted)
        if sum(line_of(one) is line for one in self._under_way) >= _MOST_ASKED[line]:
            raise BusyError("others wait for what they have asked for")
        task = asyncio.create_task(self._renew(wanted), name="snapshot")
        self._under_way[wanted] = task
        task.add_done_callback(lambda over: self._ended(wanted, over))
        return task

    async def _renew(self, wanted: Wanted) -> Kept:
        taken = await self._ask(wanted)
        kept = self._kept[wanted] = Kept(taken.at, await self._write(wanted, taken))
        self._kept.move_to_end(wanted)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return kept

    def _ended(self, wanted: Wanted, over: asyncio.Task[Kept]) -> None:
        del self._under_way[wanted]
        if not over.cancelled():
            over.exception()  # told to those who wait; there may be none left
