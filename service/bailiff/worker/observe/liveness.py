"""Would a restart mend it? What /healthz answers by, besides the pulse of the event loop.

Whether the loop turns is told by its pulse, to another thread (bailiff.serving.pulse). Asked here
is whether every task of ours is still there, and measured how late the loop is. Trouble with the
API server is neither: a restarted worker would have it too, and would have lost its mirror besides.
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
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    def expect(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """These are to run from now on, and no others: the tasks of `Worker.run`.

        The heartbeat and the control of policies run beside them. Either of them ends the process
        when it fails. A control that only returned is not told of: the policies then stay as they
        were read last.
        """
        self._tasks = tuple(tasks)

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            before = self._clock.monotonic()
            await asyncio.sleep(PERIOD)
            self._lag.observe(max(0.0, self._clock.monotonic() - before - PERIOD))

    def complaints(self) -> list[str]:
        """What only a restart would mend, for people; empty if nothing is wrong."""
        return [f"the task {one.get_name()!r} has ended" for one in self._tasks if one.done()]
