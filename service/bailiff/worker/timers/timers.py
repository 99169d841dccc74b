"""When each eviction is to be looked at next: at its deadline, or when it is tried again.

Deadlines are wall-clock instants, and are compared with the wall clock whenever somebody asks what
is due, so that a clock that is put right moves them all. Retries are instants of elapsed time,
which nobody can step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.worker.timers.queue import DeadlineQueue

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Generator
    from datetime import datetime

    from bailiff.clock import Clock

# Timers that are counted in one go, about 1 ms.
_PART = 2000


class Timers:
    """One timer at most for each entry, by the pod's UID. Not thread-safe: one loop owns it."""

    def __init__(self, clock: Clock, earlier: asyncio.Event) -> None:
        """Start empty; `earlier` is set when the first timer moves to an earlier instant."""
        self._clock = clock
        self._earlier = earlier
        # By POSIX second of the wall clock.
        self._deadlines: DeadlineQueue[str] = DeadlineQueue()
        # By second of elapsed time: those that wait for another try, and those that are DONE.
        self._retries: DeadlineQueue[str] = DeadlineQueue()

    def set(self, uid: str, deadline: datetime, next_try: float | None) -> None:
        """For the next try, in elapsed time, or the deadline where that is None."""
        if next_try is None:
            self._put(self._deadlines, uid, deadline.timestamp())
        else:
            self._put(self._retries, uid, next_try)

    def cancel(self, uid: str) -> None:
        """Nothing is to be done at any time."""
        self._deadlines.cancel(uid)
        self._retries.cancel(uid)

    def next_due(self) -> float | None:
        """The first timer, by elapsed time; None: none. Ask again after a second: clocks step."""
        deadline, retry = self._deadlines.next_due(), self._retries.next_due()
        if deadline is None:
            return retry
        due = self._clock.elapsed() + deadline - self._wall()
        return due if retry is None else min(due, retry)

    def count(self) -> tuple[int, int]:
        """How many deadlines are to come, and how many are due; looks at all that are due."""
        parts = self.counting()
        while True:
            try:
                next(parts)
            except StopIteration as end:
                counts: tuple[int, int] = end.value
                return counts

    def counting(self) -> Generator[None, None, tuple[int, int]]:
        """As `count`, in parts; what changes between two of them may be counted or not."""
        due = 0
        for _ in self._deadlines.due(self._wall()):
            due += 1
            if due % _PART == 0:
                yield
        return max(0, len(self._deadlines) - due), due

    def pop_due(self) -> str | None:
        """The one that has been due for longest, without a timer now; None if none is due."""
        wall, elapsed = self._wall(), self._clock.elapsed()
        deadline, retry = self._deadlines.next_due(), self._retries.next_due()
        waited = -1.0 if retry is None else elapsed - retry
        if deadline is not None and wall - deadline >= max(0.0, waited):
            return self._deadlines.pop_due(wall)
        return self._retries.pop_due(elapsed)

    def _put(self, timers: DeadlineQueue[str], uid: str, at: float) -> None:
        first = timers.next_due()
        timers.put(uid, at)
        if first is None or at < first:
            self._earlier.set()

    def _wall(self) -> float:
        return self._clock.now().timestamp()
