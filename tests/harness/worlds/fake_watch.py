"""A watch that tells what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator


class FakeWatch:
    """Events by hand."""

    def __init__(self) -> None:
        self._events: asyncio.Queue = asyncio.Queue()

    def send(self, event) -> None:
        self._events.put_nowait(event)

    async def events(self) -> AsyncGenerator:
        while True:
            yield await self._events.get()
