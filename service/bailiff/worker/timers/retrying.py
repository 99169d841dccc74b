"""Work that is done by key beside everything else, and tried again until it is done.

Notes on nodes, conditions to be reset, statuses of rules: each waits for its turn once, whatever
asks for it how often; two tries of one key never run at a time; and what fails waits longer with
each failure. What is to be done is asked for when its turn has come, never when it was asked for,
so that a try is of what is wanted then.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from bailiff.worker.timers.queue import SHORTEST_SLEEP, DeadlineQueue, sleep

if TYPE_CHECKING:
    from bailiff.clock import Clock

K = TypeVar("K")


# A wait is doubled no more often.
_DOUBLED = 10


class Again(NamedTuple):
    """Not done yet.

    Attributes:
        seconds: until the next try; less than SHORTEST_SLEEP counts as that.
        failed: the try has failed, and counts; if not, its time has not come.
    """

    seconds: float
    failed: bool = True

    @classmethod
    def doubled(cls, first: float, failures: int, most: float) -> Again:
        """After a failure: `first` seconds, doubled for each that was before it, `most` at most."""
        # The exponent is bounded too: no float is as large as the power would grow.
        return cls(min(first * 2 ** min(failures, _DOUBLED), most))


class _Asked(NamedTuple):
    """One that is under way is asked for: anew whatever it comes to, or only if it is done."""

    delay: float
    anew: bool


# Whatever it comes to, it is not tried again: nobody wants it any more.
_NEVER = _Asked(math.inf, anew=False)


class Retrying(ABC, Generic[K]):
    """Keys that wait for their turn. One event loop owns it."""

    def __init__(self, clock: Clock, at_a_time: int = 1) -> None:
        """Begin with nothing.

        Args:
            clock: for elapsed time.
            at_a_time: tries of different keys that may run at once, 1 and up.
        """
        self._clock = clock
        self._at_a_time = at_a_time
        self._queue: DeadlineQueue[K] = DeadlineQueue()
        # Tried right now, and what was asked for meanwhile.
        self._under_way: dict[K, _Asked | None] = {}
        # Tries that have failed since the last that has not; of those only that are not done.
        self._failures: dict[K, int] = {}
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._tried = asyncio.Event()

    @abstractmethod
    async def attempt(self, key: K, failures: int) -> Again | None:
        """Do it, bounded in time; None: done, or nothing is left to do.

        Args:
            key: what.
            failures: how many tries have failed before this one.
        """

    def __len__(self) -> int:
        """Keys that wait or are being tried."""
        return len(self._queue) + len(self._under_way)

    def __contains__(self, key: K) -> bool:
        return key in self._queue or key in self._under_way

    def ask_for(self, key: K, delay: float = 0.0) -> None:
        """Do this in so many seconds, whenever it was to be done before, as if for the first time.

        One that is under way is done once more.
        """
        if key in self._under_way:
            self._under_way[key] = _Asked(delay, anew=True)
        else:
            self._failures.pop(key, None)
            self._put(key, delay)

    def remind(self, key: K, delay: float = 0.0) -> None:
        """Do this in so many seconds, unless it waits for its turn anyway."""
        if key in self._under_way:
            asked = self._under_way[key]
            if asked is None or asked is _NEVER:
                self._under_way[key] = _Asked(delay, anew=asked is _NEVER)
        elif key not in self._queue:
            self._put(key, delay)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_a_time):
                group.create_task(self._work())

    async def drain(self) -> None:
        """Return when all that is due has been tried; what waits for its next try is left."""
        while self._under_way or self._wait() <= 0.0:
            self._tried.clear()
            await self._tried.wait()

    async def forget(self) -> None:
        """Drop all that was asked for so far; return when no try of it is under way."""
        self._queue = DeadlineQueue()
        self._failures.clear()
        self._under_way = dict.fromkeys(self._under_way, _NEVER)
        while self._under_way:
            self._tried.clear()
            await self._tried.wait()

    async def _work(self) -> None:
        while True:
            await self._try(await self._next())

    async def _next(self) -> K:
        # One watches the timers, the others queue behind it for their turn.
        async with self._turn:
            while True:
                self._changed.clear()
                key = self._queue.pop_due(self._clock.elapsed())
                if key is not None:
                    self._under_way[key] = None
                    return key
                await sleep(self._changed, self._wait())

    async def _try(self, key: K) -> None:
        failures = self._failures.get(key, 0)
        try:
            again = await self.attempt(key, failures)
        finally:
            asked = self._under_way.pop(key)
            self._tried.set()
        if asked is _NEVER:
            return
        if asked is not None and (asked.anew or again is None):
            self._failures.pop(key, None)
            self._put(key, asked.delay)
        elif again is not None:
            self._failures[key] = failures + again.failed
            # Less might be nothing beside the clock's own digits, and be tried without end.
            self._put(key, max(again.seconds, SHORTEST_SLEEP))
        else:
            self._failures.pop(key, None)

    def _put(self, key: K, delay: float) -> None:
        self._queue.put(key, self._clock.elapsed() + delay)
        self._changed.set()

    def _wait(self) -> float:
        """Seconds until the first is due; infinity: there is none."""
        due = self._queue.next_due()
        return math.inf if due is None else due - self._clock.elapsed()
