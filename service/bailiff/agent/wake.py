"""When the next round is: by time, or because somebody has noticed something."""

from __future__ import annotations

import asyncio
import contextlib


class Wake:
    """Remembers what was noticed until somebody waits for it: a storm of notices is one round."""

    def __init__(self) -> None:
        """Nothing was noticed yet."""
        self._event = asyncio.Event()
        self._by: set[str] = set()
        self._first: float | None = None

    def notice(self, by: str) -> None:
        """A round is due at once."""
        if self._first is None:
            self._first = asyncio.get_running_loop().time()
        self._by.add(by)
        self._event.set()

    async def wait(self, seconds: float) -> tuple[frozenset[str], float]:
        """Wait until something is noticed, or for so long.

        Returns:
            By what it was noticed, nothing where the time was over; and seconds since it was first
            noticed.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        by, first = frozenset(self._by), self._first
        self._event.clear()
        self._by.clear()
        self._first = None
        ago = 0.0 if first is None else asyncio.get_running_loop().time() - first
        return by, ago
