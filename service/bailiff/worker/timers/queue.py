"""Keys in an order, such as by when they fall due; built for a million of them.

A heap with lazy deletion: moving or cancelling a key leaves its old heap entry behind, which is
skipped when it surfaces and swept out when half of the heap is such leftovers. Add, move and
cancel cost O(log n) at most and allocate one entry.

An entry is none of the garbage collector's business: it wakes by growth alone, so those of 150,000
keys that moved from one queue to another would wait for it, and be looked at in one go of 300 ms.
Ranks had better be none, too.

And how long whoever waits for the first key sleeps.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

K = TypeVar("K")
# What keys are ordered by; the smallest is first.
R = TypeVar("R")

_SWEEP_ABOVE = 1024
# Seconds. The event loop waits by CLOCK_MONOTONIC, which knows nothing of a wall clock that was put
# right, and stands still while the machine is suspended: so the clocks that decide what is due are
# looked at again after this, and nothing is later than this for their sake.
LONGEST_SLEEP = 1.0
# Below this a timer may fire at the very instant it was set and find nothing due, again and again.
SHORTEST_SLEEP = 0.001


class _Entry(Struct, order=True, gc=False):
    rank: Any
    sequence: int
    key: Any


class RankedQueue(Generic[K, R]):
    """Each key at most once, at one rank; keys of one rank in the order of `put`."""

    __slots__ = ("_current", "_heap", "_sequence")

    def __init__(self) -> None:
        self._heap: list[_Entry] = []
        # The one entry of each key that counts; any other of that key is a leftover.
        self._current: dict[K, _Entry] = {}
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._current)

    def __contains__(self, key: K) -> bool:
        return key in self._current

    def put(self, key: K, rank: R) -> None:
        """Add a key, or move it."""
        self._sequence += 1
        entry = self._current[key] = _Entry(rank, self._sequence, key)
        heapq.heappush(self._heap, entry)
        self._sweep()

    def rank(self, key: K) -> R | None:
        """Where a key stands; None if it is not in."""
        entry = self._current.get(key)
        return None if entry is None else entry.rank

    def cancel(self, key: K) -> bool:
        """Take a key out; False if it was not in."""
        if self._current.pop(key, None) is None:
            return False
        self._sweep()
        return True

    def first(self) -> tuple[R, K]:
        """The first key and its rank, left where they are.

        Raises:
            IndexError: there is none.
        """
        self.drop_leftovers()
        entry = self._heap[0]
        return entry.rank, entry.key

    def drop_leftovers(self) -> None:
        """Forget what stands before the first key and does not count any more."""
        heap, current = self._heap, self._current
        while heap and current.get(heap[0].key) is not heap[0]:
            heapq.heappop(heap)

    def _sweep(self) -> None:
        if len(self._heap) > _SWEEP_ABOVE and len(self._heap) > 2 * len(self._current):
            # Every entry that counts is among the values: no need to look for it.
            self._heap = list(self._current.values())
            heapq.heapify(self._heap)


class DeadlineQueue(RankedQueue[K, float]):
    """Each key at one instant in seconds, of whichever clock."""

    __slots__ = ()

    def next_due(self) -> float | None:
        """When the first key falls due; None if there is none."""
        self.drop_leftovers()
        return self._heap[0].rank if self._heap else None

    def pop_due(self, now: float) -> K | None:
        """Take out the first key if it is due; keys of one instant go in the order of `put`."""
        self.drop_leftovers()
        if not self._heap or self._heap[0].rank > now:
            return None
        key: K = heapq.heappop(self._heap).key
        del self._current[key]
        return key

    def due(self, now: float) -> Iterator[K]:
        """All keys that are due, in no order, left where they are; looks at no others."""
        places = [0]
        while places:
            place = places.pop()
            if place < len(self._heap) and self._heap[place].rank <= now:
                entry = self._heap[place]
                if self._current.get(entry.key) is entry:
                    yield entry.key
                places += (2 * place + 1, 2 * place + 2)


async def sleep(changed: asyncio.Event, seconds: float) -> None:
    """Until something changes, or the clock is to be looked at.

    Args:
        changed: set when something does.
        seconds: until the first key is due, kept within the bounds above; infinity: until
            something changes, however long that takes.
    """
    bound = None if seconds == math.inf else min(max(seconds, SHORTEST_SLEEP), LONGEST_SLEEP)
    try:
        async with asyncio.timeout(bound):
            await changed.wait()
    except TimeoutError:
        return
