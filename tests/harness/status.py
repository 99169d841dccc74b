"""What a worker process says of itself on its status port."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import aiohttp


class StatusPages:
    """The pages.

    Args:
        port: the worker's status port.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    async def tells(self, path: str) -> tuple[int, str]:
        """HTTP status and body of a page; 0 while nobody answers."""
        url = f"http://127.0.0.1:{self.port}{path}"
        with contextlib.suppress(aiohttp.ClientError):
            async with aiohttp.ClientSession() as session, session.get(url) as response:
                return response.status, await response.text()
        return 0, ""

    async def page(self, path: str) -> Any:
        """A page of JSON that must be there."""
        status, text = await self.tells(path)
        assert status == 200, (status, text)
        return json.loads(text)

    async def ready(self) -> bool:
        """Whether it says that it is."""
        return (await self.tells("/readyz"))[0] == 200

    async def leads(self) -> bool:
        """Whether it has seen everything, and acts."""
        queue = await self.queue()
        return queue.get("leader") is True and queue["synced"] is True

    async def queue(self) -> dict[str, Any]:
        """/v1/queue; empty while nobody answers."""
        status, text = await self.tells("/v1/queue")
        found: dict[str, Any] = json.loads(text) if status == 200 else {}
        return found
