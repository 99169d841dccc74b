"""Would a restart mend it? What /healthz answers by.

Only two things are asked: whether the event loop still turns, and whether every task of ours is
still there. Trouble with the API server is none of them: a restarted worker would have it too, and
would have lost its mirror besides.

A loop that is stuck for good answers nothing at all, and whoever asks takes that for a no (the
chart's probe waits 3 s). What can be told from inside is a loop that turns so rarely, or so
unfairly, that a task which wants to run ten times a second has not run for half a minute.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Histogram

    from bailiff.clock import Clock

# Seconds between two beats: a step of the loop that is twice as long is measured for sure.
PERIOD = 0.1
# Seconds without a beat after which a restart is better; far more than any step should take.
_LONGEST_PAUSE = 30.0


class Liveness:
    """The heartbeat of the event loop, and the tasks that must not end."""

    def __init__(self, clock: Clock, lag: Histogram) -> None:
        """Know nothing yet.

        Args:
            clock: for the time between two beats.
            lag: by how many seconds the loop was late for each beat.
        """
        self._clock = clock
        self._lag = lag
        self._last: float | None = None
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    def expect(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """These are to run from now on, and no others: the tasks of `Worker.run`.

        The heartbeat and the control of policies run beside them. The pause tells of a heartbeat
        that has ended; a control that fails ends the process, and one that only returned is not
        told of: the policies then stay as they were read last.
        """
        self._tasks = tuple(tasks)

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            before = self._last = self._clock.monotonic()
            await asyncio.sleep(PERIOD)
            self._lag.observe(max(0.0, self._clock.monotonic() - before - PERIOD))

    def complaints(self) -> list[str]:
        """What only a restart would mend, for people; empty if nothing is wrong."""
        found = [f"the task {one.get_name()!r} has ended" for one in self._tasks if one.done()]
        pause = 0.0 if self._last is None else self._clock.monotonic() - self._last
        if pause > _LONGEST_PAUSE:
            found.append(f"the event loop has not come round for {pause:.0f} s")
        return found
