"""What one address may send into the door at a time: calls that nobody has begun to serve, frames.

grpcio takes calls in one after the other on our event loop, and has no line for each address:
whoever begins a thousand calls at once has the next caller wait behind all of them. So grpcio gets
so many of an address at a time. And a frame of nine bytes costs the door as much as one of 16 KiB,
on the same loop. The rest of either stays in the connections, which are not read from meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

# Calls of one address that are led in at a time. To refuse one takes up to 1 ms, so the next caller
# waits about 10 ms behind them; a turn of the event loop answers fewer.
MOST_CALLS = 8
# Seconds for which a call counts that its client has reset: grpcio has work with it all the same,
# and cannot be asked when that is done. So one address may reset 40 calls in a second. grpcio takes
# in one call of a method at a time, which needs some turns of the event loop: under load that is
# some hundred in a second, and those who wait behind a reset one wait as long as for any other.
_RESET_SECONDS = 0.2
# Frames of one address in a second, and at once. At 0.3 us for each an address takes 1.5 % of the
# loop, and 3 ms at a time; 10,000 calls in a second send about 40,000.
_FRAMES_EACH_SECOND, MOST_FRAMES = 50_000.0, 10_000.0
# Seconds until those are looked at again who have sent too many.
_AGAIN_SECONDS = 0.02


class Held(Protocol):
    """A connection of which something waits to be led in."""

    def lead_on(self) -> None:
        """Lead in as much as there is room for, and come again for the rest."""


class Pacing:
    """That of one address.

    Attributes:
        calls: that grpcio has and nobody has begun to serve, and those reset a moment ago.
        frames: that may still be sent at once.
    """

    __slots__ = (
        "__weakref__",
        "_held",
        "_is_waiting",
        "_later",
        "_now",
        "_since",
        "calls",
        "frames",
    )

    def __init__(
        self, now: Callable[[], float], later: Callable[[float, Callable[[], None]], object]
    ) -> None:
        """Nothing has been sent.

        Args:
            now: tells seconds.
            later: calls something in so many seconds, as `loop.call_later`.
        """
        self._now, self._later = now, later
        self.calls = 0
        self.frames = MOST_FRAMES
        self._since = now()
        # Connections take turns.
        self._held: dict[Held, None] = {}
        self._is_waiting = False

    def refill(self) -> None:
        """Allow the frames of the time that has passed."""
        now = self._now()
        more = (now - self._since) * _FRAMES_EACH_SECOND
        self.frames, self._since = min(MOST_FRAMES, self.frames + more), now

    def begin(self, *, reset: bool = False) -> None:
        """A call is not waiting any more: served or refused, or its client has reset it."""
        if reset:
            self._later(_RESET_SECONDS, self.begin)
            return
        self.calls -= 1
        self._lead_on()

    def hold(self, connection: Held) -> None:
        """Lead it on when there is room."""
        self._held[connection] = None
        self._look_later()

    def forget(self, connection: Held) -> None:
        """It has ended."""
        self._held.pop(connection, None)

    def _look_later(self) -> None:
        """Where frames are short: of calls `begin` tells."""
        if self._held and self.frames < 1 and not self._is_waiting:
            self._is_waiting = True
            self._later(_AGAIN_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._is_waiting = False
        self.refill()
        self._lead_on()

    def _lead_on(self) -> None:
        # By halves: a connection is not begun to be read anew for each call.
        while self._held and self.calls <= MOST_CALLS // 2 and self.frames >= 1:
            first = next(iter(self._held))
            del self._held[first]
            first.lead_on()
        self._look_later()
