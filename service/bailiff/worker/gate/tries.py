"""Who asks counts that hang: for some seconds nobody, then one at a time.

An eviction that is to be counted keeps one of the executor's few places while it asks. Were all to
ask counts that hang, evictions that nobody counts would wait behind them. A failure that comes at
once keeps nobody.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from bailiff.tally import TallyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.clock import Clock

T = TypeVar("T")

# Seconds that a failure takes by which nobody asks for a while, and for how long.
_LONG, _REST = 1.0, 2.0


class Tries:
    """Counting, for as long as it works."""

    def __init__(self, clock: Clock) -> None:
        """Nothing hangs yet."""
        self._clock = clock
        # What it failed with last, if that took long.
        self._failure: TallyError | None = None
        self._again_at = -math.inf
        self._is_tried = False

    async def __call__(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What it answers.

        Raises:
            TallyError: it has failed; or it hung when it was asked last, and it is not asked now.
        """
        failure = self._failure
        if failure is None:
            return await self._ask(ask)
        if self._is_tried or self._clock.elapsed() < self._again_at:
            raise TallyError(str(failure))
        self._is_tried = True
        try:
            return await self._ask(ask)
        finally:
            self._is_tried = False

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T:
        began = self._clock.elapsed()
        # What stands where whoever asks has given up.
        failure: TallyError | None = TallyError("was not read or written in time")
        try:
            found = await ask()
            failure = None
        except TallyError as error:
            failure = error
            raise
        finally:
            now = self._clock.elapsed()
            self._failure = failure if now - began >= _LONG else None
            self._again_at = now + _REST
        return found
