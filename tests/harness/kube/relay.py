"""A TCP relay that a test can cut or freeze, to be the bad network between client and server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import ssl

_CHUNK = 64 * 1024


class Relay:
    """Passes bytes between clients and one loopback port.

    Args:
        target: the port to pass on to.

    Attributes:
        port: where clients connect.
        connections: how many were ever accepted.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._context: ssl.SSLContext | None = None
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self.cut()

    async def cut(self) -> None:
        """Break every connection that is open now."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def freeze(self) -> None:
        """Pass nothing on any more, and let nobody notice."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Pass things on again."""
        self._flowing.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass(reader, writer)
        except asyncio.CancelledError:
            pass  # cut() awaits us; the stream server would log it as a failure
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, behind_writer))
                group.create_task(self._pump(behind_reader, writer))
        finally:
            behind_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        if writer.can_write_eof():  # TLS has no half that could end before the other
            with suppress(OSError):
                writer.write_eof()
        else:
            writer.close()
