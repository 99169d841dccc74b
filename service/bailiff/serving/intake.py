"""How many bytes of long bodies are read in one turn of the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from bailiff.addresses import peer_of
from bailiff.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable

# A piece of so many bytes is one of a long body: who sent it reads on in its turn.
LONG_PIECE = 64 * 1024
# After so many bytes a turn lets no more in: three pieces of a long body, of 250 KiB each. To read
# them, into memory that the kernel has to clear first, and to join them takes up to 2 ms.
TURN_BYTES = 512 * 1024
# Bytes that are let in in a second, and seconds for which they are saved up. To decode a body takes
# longer, so nobody waits for this but those who send and never end: for them the loop would copy as
# much memory as it can.
EACH_SECOND = 256 * 1024 * 1024
_SAVED_SECONDS = 0.125


class _Paused(NamedTuple):
    """A connection that is not read from: how to go on, and what it has sent the last time."""

    go_on: Callable[[], None]
    length: int


class Intake:
    """Lets connections that send much be read from again: so many bytes a turn, peers in turns."""

    def __init__(self, turn_bytes: int = TURN_BYTES, each_second: int = EACH_SECOND) -> None:
        """Nobody waits.

        Args:
            turn_bytes: that one turn lets in, and one connection at least.
            each_second: bytes of a second.
        """
        self._most, self._each_second = turn_bytes, each_second
        # When the seconds have passed that all bytes up to now may take.
        self._passed_at = 0.0
        self._line: Line[_Paused] = Line()

    def wait(self, address: str, length: int, go_on: Callable[[], None]) -> None:
        """Call `go_on` when it is the turn of this address.

        Args:
            address: of the client.
            length: of the last piece, in bytes, as a guess at the next.
            go_on: must not raise; the connection may have ended by then.
        """
        if not len(self._line):
            self._begin_turn()
        self._line.add(peer_of(address), _Paused(go_on, length))

    def _begin_turn(self) -> None:
        loop = asyncio.get_running_loop()
        rest = self._passed_at - loop.time()
        if rest > 0:
            loop.call_later(rest, self._turn)
        else:
            loop.call_soon(self._turn)

    def _turn(self) -> None:
        left = self._most
        while len(self._line) and left > 0:
            one = self._line.pop()
            left -= one.length
            one.go_on()
        since = asyncio.get_running_loop().time() - _SAVED_SECONDS
        self._passed_at = max(self._passed_at, since) + (self._most - left) / self._each_second
        if len(self._line):
            self._begin_turn()
