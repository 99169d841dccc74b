"""How long to wait after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from bailiff.clock import Clock


class Backoff:
    """Waits that double and are jittered, and start small again after a healthy stretch.

    The numbers and the jitter are client-go's (tools/cache/reflector.go): each wait is drawn
    between its size and twice its size, so that clients of a restarted server come apart.

    Args:
        clock: for the healthy stretch.
        random: for the jitter.
        smallest: seconds.
        largest: seconds, before jitter.
        reset: seconds without a call after which it starts over.
    """

    def __init__(
        self, clock: Clock, random: Random, *, smallest: float, largest: float, reset: float
    ) -> None:
        self._clock = clock
        self._random = random
        self._smallest = smallest
        self._largest = largest
        self._reset = reset
        self._next = smallest
        self._last = float("-inf")

    def next(self) -> float:
        """Seconds to wait now."""
        now = self._clock.monotonic()
        if now - self._last > self._reset:
            self._next = self._smallest
        wait = self._random.uniform(self._next, 2 * self._next)
        self._next = min(self._next * 2, self._largest)
        self._last = now + wait
        return wait
