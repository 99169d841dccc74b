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
# Bytes that one turn lets in; to take and to join them takes about 1 ms.
TURN_BYTES = 1024 * 1024


class _Paused(NamedTuple):
    """A connection that is not read from: how to go on, and what it has sent the last time."""

    go_on: Callable[[], None]
    length: int


class Intake:
    """Lets connections that send much be read from again: so many bytes a turn, peers in turns."""

    def __init__(self, turn_bytes: int = TURN_BYTES) -> None:
        """Nobody waits; one turn lets in so many bytes, and one connection at least."""
        self._most = turn_bytes
        self._line: Line[_Paused] = Line()

    def wait(self, address: str, length: int, go_on: Callable[[], None]) -> None:
        """Call `go_on` when it is the turn of this address.

        Args:
            address: of the client.
            length: of the last piece, in bytes, as a guess at the next.
            go_on: must not raise; the connection may have ended by then.
        """
        if not len(self._line):
            asyncio.get_running_loop().call_soon(self._turn)
        self._line.add(peer_of(address), _Paused(go_on, length))

    def _turn(self) -> None:
        left = self._most
        while len(self._line) and left > 0:
            one = self._line.pop()
            left -= one.length
            one.go_on()
        if len(self._line):
            asyncio.get_running_loop().call_soon(self._turn)
