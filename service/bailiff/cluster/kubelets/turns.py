"""One piece of work in each round of the event loop, whoever has one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Turns:
    """A line for work that is short, and of which very much may be ready at once.

    When the answers of 200 kubelets come in together, to take them in and to decode them is most of
    a second. Everybody else in the event loop would wait for all of it; so they wait for one piece
    at a time, of one or two milliseconds.

    Attributes:
        waiting: pieces of work, the one that is being done included.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self.waiting = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for the turn; first come, first served. What is done inside does not wait."""
        self.waiting += 1
        try:
            async with self._lock:
                yield
                # The lock is kept until all others have had their turn.
                await asyncio.sleep(0)
        finally:
            self.waiting -= 1
