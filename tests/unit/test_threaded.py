"""An HTTP port in a thread of its own: started, stopped and failing before its owner's eyes."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bailiff.serving import HttpServer, ThreadedHttpServer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LIMIT = 20.0  # seconds for anything here; it is never reached
ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def thread(_: Request) -> Response:
    return PlainTextResponse(threading.current_thread().name)


def server(port: int = 0, **config: Any) -> ThreadedHttpServer:
    app = Starlette(routes=[Route("/", thread)])
    return ThreadedHttpServer(HttpServer(app, "127.0.0.1", port, **config), share=1.0)


async def test_it_answers_beside_the_loop_of_its_owner_and_ends_with_it() -> None:
    before = threading.active_count()
    one = server()
    async with asyncio.timeout(LIMIT):
        reader, writer = await asyncio.open_connection("127.0.0.1", await one.start())
        writer.write(ASK)
        assert (await reader.readuntil(b"http")).startswith(b"HTTP/1.1 200 OK")
        assert threading.active_count() == before + 1
        await one.stop(grace=1)
        assert await reader.read() == b""
        writer.close()
        await one.wait()
    assert threading.active_count() == before


async def test_a_port_that_is_taken_is_told() -> None:
    one = server()
    async with asyncio.timeout(LIMIT):
        port = await one.start()
        other = server(port)
        with pytest.raises(OSError, match="in use"):
            await other.start()
        with pytest.raises(OSError, match="in use"):
            await other.stop(grace=0)
        await one.stop(grace=0)


async def test_one_that_was_never_started_is_stopped() -> None:
    await server().stop(grace=0)


async def test_what_ends_it_is_told_to_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: HttpServer) -> None:
        raise LookupError("broken")

    monkeypatch.setattr(HttpServer, "wait", broken)
    one = server()
    async with asyncio.timeout(LIMIT):
        await one.start()
        with pytest.raises(LookupError, match="broken"):
            await one.wait()
        with pytest.raises(LookupError, match="broken"):
            await one.stop(grace=0)


async def test_one_that_is_stopped_while_it_starts_ends() -> None:
    one = server()
    starting = asyncio.create_task(one.start())
    await asyncio.sleep(0)
    async with asyncio.timeout(LIMIT):
        await one.stop(grace=0)
    starting.cancel()
    await asyncio.wait([starting])
