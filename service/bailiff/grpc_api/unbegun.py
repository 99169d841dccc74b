"""How many calls of one address grpcio has and nobody has begun to serve.

grpcio takes calls in one after the other on our event loop, and has no line for each address:
whoever begins a thousand calls at once has the next caller wait behind all of them. So grpcio gets
so many of an address at a time. The others stay in their connections, which are not read from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

# Calls of one address that are led in at a time. At 0.3 ms for a call to be refused the next caller
# waits 10 ms behind them, and 32 are more than one turn of the event loop can take.
MOST = 32
# Seconds for which a call counts that its client has reset: grpcio has work with it all the same,
# and cannot be asked when that is done. So one address may reset 640 calls in a second.
_RESET_SECONDS = 0.05


class Held(Protocol):
    """A connection whose next calls wait to be led in."""

    def lead_on(self) -> None:
        """Lead in as many as there is room for, and come again for the rest."""


class Unbegun:
    """The calls of one address.

    Attributes:
        count: of those that grpcio has, and those that were reset a moment ago.
    """

    __slots__ = ("__weakref__", "_held", "_later", "count")

    def __init__(self, later: Callable[[float, Callable[[], None]], object]) -> None:
        """There is none; `later` calls something in so many seconds, as `loop.call_later`."""
        self._later = later
        self.count = 0
        # Connections take turns.
        self._held: dict[Held, None] = {}

    def room(self) -> int:
        """How many more may be led in."""
        return MOST - self.count

    def begin(self, *, reset: bool = False) -> None:
        """One is not waiting any more: it is served or refused, or its client has reset it."""
        if reset:
            self._later(_RESET_SECONDS, self.begin)
            return
        self.count -= 1
        # By halves: a connection is not begun to be read anew for each call.
        while self._held and self.count <= MOST // 2:
            first = next(iter(self._held))
            del self._held[first]
            first.lead_on()

    def hold(self, connection: Held) -> None:
        """Lead it on when there is room."""
        self._held[connection] = None

    def forget(self, connection: Held) -> None:
        """It has ended."""
        self._held.pop(connection, None)
