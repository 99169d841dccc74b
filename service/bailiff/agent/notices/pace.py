"""How often one way of the kernel may ask for a round.

A cgroup that fills its limit with page cache tells a hundred times a second, and so does memory in
use that goes up and down about a mark. Each time we would look, and find nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# More than there are marks behind one threshold, which are all told of within a moment.
_AT_ONCE = 10
# Seconds. At 1,000 MiB a second 100 MiB are taken meanwhile.
_EVERY = 0.1


class Pace:
    """Passes so many notices on at once, and more one by one; those that come too soon are one."""

    def __init__(self, pass_on: Callable[[], None]) -> None:
        """`pass_on` is called in the event loop."""
        self._pass_on = pass_on
        # By the loop's time: when the next would be due if they came evenly.
        self._due = 0.0
        self._held: asyncio.TimerHandle | None = None

    def notice(self) -> None:
        """Pass it on now, or a little later."""
        if self._held is not None:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        at = self._due - (_AT_ONCE - 1) * _EVERY
        if at <= now:
            self._go_on(now)
        else:
            self._held = loop.call_at(at, self._go_on, at)

    def close(self) -> None:
        """What is held back is not passed on any more."""
        if self._held is not None:
            self._held.cancel()
            self._held = None

    def _go_on(self, now: float) -> None:
        self._held = None
        self._due = max(self._due, now) + _EVERY
        self._pass_on()
