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

from bailiff.worker.timers.queue import DeadlineQueue

if TYPE_CHECKING:
    from bailiff.clock import Clock

K = TypeVar("K")

# The longest sleep, as for evictions: whoever was suspended is late by no more.
_LONGEST_SLEEP = 1.0
# Below this a timer may fire at the very instant it was set and find nothing due, again and again.
_SHORTEST_SLEEP = 0.001


class Again(NamedTuple):
    """Not done yet.

    Attributes:
        seconds: until the next try, 0 and up.
        failed: the try has failed, and counts; if not, its time has not come.
    """

    seconds: float
    failed: bool = True


class _Asked(NamedTuple):
    """One that is under way is asked for: anew whatever it comes to, or only if it is done."""

    delay: float
    anew: bool


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
            if self._under_way[key] is None:
                self._under_way[key] = _Asked(delay, anew=False)
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

    async def until_idle(self) -> None:
        """Return when nothing is being tried; to be called while nothing is begun."""
        while self._under_way:
            self._tried.clear()
            await self._tried.wait()

    async def forget_all(self) -> None:
        """Drop what waits; return when nothing is being tried."""
        self._queue = DeadlineQueue()
        self._failures.clear()
        self._tried.set()
        await self.until_idle()

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
                await self._sleep()

    async def _try(self, key: K) -> None:
        failures = self._failures.get(key, 0)
        try:
            again = await self.attempt(key, failures)
        finally:
            asked = self._under_way.pop(key)
            self._tried.set()
        if asked is not None and (asked.anew or again is None):
            self._failures.pop(key, None)
            self._put(key, asked.delay)
        elif again is not None:
            self._failures[key] = failures + again.failed
            self._put(key, again.seconds)
        else:
            self._failures.pop(key, None)

    def _put(self, key: K, delay: float) -> None:
        self._queue.put(key, self._clock.elapsed() + delay)
        self._changed.set()

    def _wait(self) -> float:
        """Seconds until the first is due."""
        due = self._queue.next_due()
        return math.inf if due is None else due - self._clock.elapsed()

    async def _sleep(self) -> None:
        wait = self._wait()
        bound = None if wait == math.inf else min(max(wait, _SHORTEST_SLEEP), _LONGEST_SLEEP)
        try:
            async with asyncio.timeout(bound):
                await self._changed.wait()
        except TimeoutError:
            return
