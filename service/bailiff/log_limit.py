"""Log lines that others can cause are written at a limited rate: nobody is to fill the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class LogLimit:
    """Allows a few lines of a kind at once, and after them one in so many seconds.

    Remembers every kind, so there are to be few. Without a lock: two threads at once may both get a
    line, or lose one of the count.
    """

    def __init__(self, now: Callable[[], float], seconds: float, burst: int = 1) -> None:
        """No line was written yet.

        Args:
            now: tells seconds, and is never stepped.
            seconds: after which one more line of a kind is allowed, above 0.
            burst: lines of a kind at once after a rest, at least 1.
        """
        self._now, self._seconds, self._burst = now, seconds, burst
        # Of each kind: when all of the burst is free again, and how many lines were left out.
        self._free_at: dict[Hashable, float] = {}
        self._left_out: dict[Hashable, int] = {}

    def left_out(self, kind: Hashable = None) -> int | None:
        """Ask for one more line of a kind.

        Returns:
            How many of the kind were left out since the last that was written, to be told in this
            one as `left_out`; None: leave out this one, too.
        """
        now = self._now()
        free_at = max(self._free_at.get(kind, now), now)
        if free_at > now + (self._burst - 1) * self._seconds:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._free_at[kind] = free_at + self._seconds
        return self._left_out.pop(kind, 0)
