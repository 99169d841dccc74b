"""How many requests are begun to be read in one turn of the event loop.

A thousand clients that send at once are all ready to be read from in the same turn. To parse a
request and to begin its task takes 0.1 ms, so that turn would take 100 ms, and a call of gRPC on a
new connection needs ten turns until it is answered. So a turn looks at what has come for a short
time only, and at the rest in the next ones, peers in turns.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from bailiff.addresses import peer_of
from bailiff.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable

# A piece of at most so many bytes may wait: a usual request. While it does, it is in memory and
# does not count in the budget yet: 64 MiB at most, where 4,096 connections are allowed.
SHORT_PIECE = 16 * 1024
# Seconds of a turn for what has come, and as many for what waits.
_SECONDS = 0.0005


class Pieces:
    """Tells whether a piece that has come is looked at now, or has to wait."""

    def __init__(
        self, seconds: float = _SECONDS, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing has come.

        Args:
            seconds: of a turn for what has come, and as many for what waits; one piece at least.
            now: tells seconds.
        """
        self._seconds, self._now = seconds, now
        self._line: Line[Callable[[], None]] = Line()
        # When the time of this turn is over; None: it has not begun.
        self._until: float | None = None
        self._is_looking = False

    def is_time(self) -> bool:
        """Whether a piece may be looked at at once; where not, it has to `wait`."""
        if len(self._line):
            return False
        if self._until is None:
            self._until = self._now() + self._seconds
            self._look()
            return True
        return self._now() < self._until

    def wait(self, address: str, look: Callable[[], None]) -> None:
        """Call `look` when it is the turn of this address; the connection may have ended by then.

        What it raises goes to the event loop's exception handler.
        """
        self._line.add(peer_of(address), look)
        self._look()

    def _look(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Once in every turn in which something has come, or waits."""
        self._is_looking = False
        self._until = None
        ends = self._now() + self._seconds
        try:
            while len(self._line):
                self._line.pop()()
                if self._now() >= ends:
                    break
        finally:
            if len(self._line):
                self._look()
