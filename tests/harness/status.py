"""What a worker process says of itself on its status port."""

from __future__ import annotations

import contextlib
import json
import ssl
from typing import Any

import aiohttp


class StatusPages:
    """The pages.

    Args:
        port: the worker's status port.
        tls: of a client, where the port has TLS.
        token: of one who may look.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None, token: str = "") -> None:
        self.port = port
        self._url = f"http{'s' if tls else ''}://127.0.0.1:{port}"
        self._tls = tls or True
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def tells(self, path: str) -> tuple[int, str]:
        """HTTP status and body of a page; 0 while nobody answers."""
        with contextlib.suppress(aiohttp.ClientError):
            async with (
                aiohttp.ClientSession(self._url, headers=self._headers) as session,
                session.get(path, ssl=self._tls) as response,
            ):
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
