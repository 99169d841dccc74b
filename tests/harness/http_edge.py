"""An HTTP port to be attacked, and clients that do it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from bailiff.serving import (
    Bounds,
    ByteBudget,
    Edge,
    EdgeSettings,
    HttpServer,
    Refusals,
    ServingTls,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
ASK_LONG = ASK.replace(b"/ ", b"/long ")
# More than the kernel takes for a client that reads nothing.
LONG = 16 * 1024 * 1024
LIMIT = 10.0  # seconds for anything here; it is never reached
MIB = 1024 * 1024


def post(length: int, path: bytes = b"/read") -> bytes:
    return b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (path, length)


async def read(request: Request) -> Response:
    """Reads its body to the end."""
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return Response()


async def read_late(request: Request) -> Response:
    """Reads its body after a while."""
    await asyncio.sleep(0.3)
    return await read(request)


async def dripping(_: Request) -> Response:
    """An answer in pieces, for ever."""

    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 100_000
            await asyncio.sleep(0)

    return StreamingResponse(pieces())


async def client_of(request: Request) -> Response:
    return PlainTextResponse(request.client.host if request.client else "")


APP = Starlette(
    routes=[
        Route("/", lambda _: PlainTextResponse("ok")),
        Route("/long", lambda _: PlainTextResponse(b"x" * LONG)),
        Route("/dripping", dripping),
        Route("/client", client_of),
        Route("/read", read, methods=["POST"]),
        Route("/read-late", read_late, methods=["POST"]),
    ]
)


class Port:
    """A server under attack."""

    def __init__(self, number: int, edge: Edge, registry: CollectorRegistry) -> None:
        self.number, self.budget = number, edge.budget
        self._registry = registry

    def refused(self, reason: str) -> float:
        counted = {"reason": reason}
        return self._registry.get_sample_value("bailiff_http_refused_total", counted) or 0

    async def until(self, reason: str, number: int = 1) -> None:
        while self.refused(reason) < number:
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def serving(
    bounds: Bounds | None = None,
    budget: ByteBudget | None = None,
    tls: ServingTls | None = None,
    **settings: Any,
) -> AsyncIterator[Port]:
    registry = CollectorRegistry()
    edge = Edge(budget or ByteBudget(), Refusals(registry), EdgeSettings(**settings))
    server = HttpServer(APP, "127.0.0.1", 0, bounds or Bounds(), edge=edge, tls=tls)
    port = Port(await server.start(), edge, registry)
    try:
        async with asyncio.timeout(LIMIT):
            yield port
            while edge.budget.taken:  # all is given back, in the end
                await asyncio.sleep(0.01)
    finally:
        await server.stop(grace=0)


class Streams:
    """Connections, closed in the end."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self, sent: bytes = b"", **options: Any) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, **options)
        self._writers.append(writer)
        writer.write(sent)
        return reader

    async def ask(self, sent: bytes = ASK, **options: Any) -> bytes:
        """The status line, and the rest of the head."""
        return await (await self.open(sent, **options)).readuntil(b"\r\n\r\n")

    def write(self, sent: bytes, which: int = -1) -> None:
        """To the latest, or to another by its number."""
        self._writers[which].write(sent)

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@contextlib.contextmanager
def streams(port: Port) -> Iterator[Streams]:
    opened = Streams(port.number)
    try:
        yield opened
    finally:
        opened.close()
