"""What every HTTP port bears before there is a request: the worker's pages and the demo's, too."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bailiff.serving import Bounds, HttpServer

ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LIMIT = 5.0  # seconds for anything here; it is never reached


@contextlib.asynccontextmanager
async def serving(bounds: Bounds) -> AsyncIterator[int]:
    """The port of a server with these bounds."""
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("ok"))])
    server = HttpServer(app, "127.0.0.1", 0, bounds)
    port = await server.start()
    try:
        async with asyncio.timeout(LIMIT):
            yield port
    finally:
        await server.stop(grace=0)


async def all_that_comes(port: int, sent: bytes) -> bytes:
    """Until the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        return await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize("head", [b"", ASK[:-4]])
async def test_a_head_that_does_not_come_is_not_waited_for(head: bytes) -> None:
    async with serving(Bounds(header_timeout_seconds=0.05)) as port:
        assert await all_that_comes(port, head) == b""


async def test_a_head_that_is_too_long_is_refused_in_words() -> None:
    async with serving(Bounds(max_header_bytes=1000)) as port:
        got = await all_that_comes(port, ASK[:-2] + b"X: " + b"x" * 2000)
    assert got.startswith(b"HTTP/1.1 431 ")
    assert b"content-type: text/plain" in got
    assert got.endswith(b"\r\n\r\nat most 1000 bytes are allowed")


async def test_what_is_no_http_is_refused() -> None:
    async with serving(Bounds()) as port:
        got = await all_that_comes(port, b"\x16\x03\x01 hello\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 400 ")


POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"


@pytest.mark.parametrize(
    ("asked", "after"), [(ASK, b"\r\n"), (POST, b"x")], ids=["a blank line", "of its body"]
)
async def test_what_follows_an_answer_and_begins_no_request_keeps_no_connection(
    asked: bytes, after: bytes
) -> None:
    async with serving(Bounds(header_timeout_seconds=0.05)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked)
        assert b"HTTP/1.1" in await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0)
        writer.write(after)
        await reader.read()
        writer.close()


async def test_connections_are_bounded() -> None:
    async with serving(Bounds(max_connections=1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        got = await all_that_comes(port, ASK)
        writer.close()
    assert got.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1\r\n" in got
