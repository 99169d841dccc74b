"""A server that answers once on each connection, and drops the next request unanswered."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class DroppingServer:
    """What it has seen.

    Attributes:
        port: where it listens.
        arrived: the method of every request, answered or not.
    """

    def __init__(self) -> None:
        self.port = 0
        self.arrived: list[str] = []

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._read(reader)
            writer.write(_ANSWER)
            await self._read(reader)
        except asyncio.IncompleteReadError:
            pass  # the client has hung up
        finally:
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.arrived.append(head.split(" ", 1)[0])
        lengths = [line for line in head.splitlines() if line.lower().startswith("content-length")]
        await reader.readexactly(int(lengths[0].split(":")[1]) if lengths else 0)


@asynccontextmanager
async def dropping() -> AsyncIterator[DroppingServer]:
    """Serve on a free loopback port."""
    own = DroppingServer()
    server = await asyncio.start_server(own.accept, "127.0.0.1", 0)
    own.port = server.sockets[0].getsockname()[1]
    try:
        yield own
    finally:
        server.close()
