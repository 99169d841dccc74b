"""An event loop that takes a share of one core and no more, whatever it is asked for.

Threads of one process share Python's lock: one that has work without end has it half of the time,
and each read and write of the others waits for it, for as long as sys.setswitchinterval says. So a
thread that strangers give work to is held to a share, by pauses between the rounds of its loop. All
that it does counts: connections, handshakes, heads that nobody finishes, answers.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
import socket
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Sockets that one round looks at: with about 0.3 ms for a request a round stays at 5 ms.
_AT_A_TIME = 16
_FIRST = -1
# Seconds of rest that are saved up, so that what is asked for now and then does not wait at all.
_SAVED = 0.25
# Seconds. A shorter pause costs more than it is good for.
_SHORTEST = 0.001


class Pace:
    """Tells one thread how long to pause. To be asked by that thread alone."""

    def __init__(
        self,
        share: float,
        elapsed: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        """Begin rested.

        Args:
            share: of one core, above 0, at most 1.
            elapsed: seconds that pass.
            used: seconds of CPU time that the thread has used.
        """
        self._share = share
        self._elapsed, self._used = elapsed, used
        self._last = (elapsed(), used())
        # Seconds to pause; below 0 they are saved up.
        self._owed = -_SAVED

    def pause(self) -> float:
        """Seconds to pause now, so that what was used up to now is the share of what passes."""
        passed, spent = self._elapsed() - self._last[0], self._used() - self._last[1]
        self._last = (self._last[0] + passed, self._last[1] + spent)
        self._owed = max(-_SAVED, self._owed + spent / self._share - passed)
        return self._owed if self._owed >= _SHORTEST else 0.0


class _PacedSelector(selectors.DefaultSelector):
    """Pauses before each look at the sockets, and shows few of those that are ready.

    Those that have waited longest: so whoever comes new waits for nobody who was there before.
    """

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace
        self._round = 0
        # In which round each socket was shown last; 0: in none, and below: it always comes first.
        self._shown: dict[int, int] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:  # noqa: ANN401 - selectors'
        # The first is asyncio's own, by which other threads wake the loop.
        comes_first = not self._shown or _listens(fileobj)
        key = super().register(fileobj, events, data)
        self._shown[key.fd] = _FIRST if comes_first else 0
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:  # noqa: ANN401 - selectors'
        key = super().unregister(fileobj)
        del self._shown[key.fd]
        return key

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        pause = self._pace.pause()
        if pause:
            time.sleep(pause)
        ready = super().select(timeout)
        shown = self._shown
        if len(ready) > _AT_A_TIME:
            ready = heapq.nsmallest(_AT_A_TIME, ready, key=lambda one: shown[one[0].fd])
        self._round += 1
        for key, _ in ready:
            if shown[key.fd] >= 0:
                shown[key.fd] = self._round
        return ready


def _listens(fileobj: Any) -> bool:  # noqa: ANN401 - selectors'
    """Whether it is a socket that takes connections."""
    if not isinstance(fileobj, socket.socket):
        return False
    return bool(fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def paced_loop(share: float) -> asyncio.AbstractEventLoop:
    """A loop, to be made in its thread, that takes this share of one core at most."""
    return asyncio.SelectorEventLoop(_PacedSelector(Pace(share)))
