"""What every HTTP port bears before there is a request: the worker's pages and the demo's, too."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.serving import Bounds, HttpServer

ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
# More than the kernel takes for a client that reads nothing.
LONG = 16 * 1024 * 1024
LIMIT = 5.0  # seconds for anything here; it is never reached


async def echo(request: Request) -> Response:
    """The body, and what was read of trailers."""
    body = await request.body()
    return Response(body + (b", trailed" if "a" in request.headers else b""))


@contextlib.asynccontextmanager
async def serving(bounds: Bounds) -> AsyncIterator[int]:
    """The port of a server with these bounds."""
    plain = Route("/", lambda _: PlainTextResponse("ok"))
    long = Route("/long", lambda _: PlainTextResponse(b"x" * LONG))
    app = Starlette(routes=[plain, long, Route("/echo", echo, methods=["POST"])])
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


POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"


@pytest.mark.parametrize(
    ("asked", "after"), [(ASK, b"\r\n"), (POST, b"x")], ids=["a blank line", "of its body"]
)
async def test_what_follows_an_answer_and_begins_no_request_keeps_no_connection(
    asked: bytes, after: bytes
) -> None:
    async with serving(Bounds(header_timeout_seconds=0.05, body_timeout_seconds=0.05)) as port:
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


UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAE\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def echoed(headers: bytes, body: bytes) -> bytes:
    return b"POST /echo HTTP/1.1\r\nHost: localhost\r\n%b\r\n%b" % (headers, body)


@pytest.mark.parametrize("offer", [UPGRADE, UPGRADE.replace(b"h2c", b"websocket")])
@pytest.mark.parametrize("split", [0, 20, 70, 110, 130])
async def test_an_offer_of_another_protocol_is_not_heeded(offer: bytes, split: int) -> None:
    """As Java's HttpClient makes it with its first request; RFC 9110, 7.8."""
    asked = echoed(offer + b"Content-Length: 10\r\n", b"0123456789")
    assert split < len(asked)
    async with serving(Bounds()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked[:split])
        await asyncio.sleep(0.01)
        writer.write(asked[split:])
        assert await reader.readuntil(b"0123456789")
        writer.write(LAST)
        assert (await reader.read()).endswith(b"ok")
        writer.close()


async def test_another_protocol_is_offered_once() -> None:
    asked = echoed(UPGRADE + b"Content-Length: 2\r\n", b"ab")
    async with serving(Bounds()) as port:
        got = await all_that_comes(port, asked * 1000)
    assert b"HTTP/1.1 400 " in got


CHUNKED = echoed(b"Transfer-Encoding: chunked\r\n", b"2\r\nok\r\n0\r\n")


ASKED_LONG = b"GET /long HTTP/1.1\r\nHost: localhost\r\n%b\r\n"


@pytest.mark.parametrize("header", [b"", b"Connection: close\r\n"], ids=["kept", "closed"])
async def test_who_does_not_read_its_answer_is_cut_off(header: bytes) -> None:
    async with serving(Bounds(answer_timeout_seconds=0.1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.write(ASKED_LONG % header)
        await asyncio.sleep(0.5)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(LONG)
        writer.close()


async def test_who_reads_its_answer_in_time_gets_all_of_it() -> None:
    async with serving(Bounds(answer_timeout_seconds=0.5)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        for _ in range(2):
            writer.write(ASKED_LONG % b"")
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(LONG) == b"x" * LONG
            await asyncio.sleep(0.6)
        writer.close()


async def test_few_trailers_are_skipped() -> None:
    async with serving(Bounds()) as port:
        got = await all_that_comes(port, CHUNKED + b"a: b\r\n" * 10 + b"\r\n" + LAST)
    assert got.count(b"HTTP/1.1 200 OK") == 2
    assert b"trailed" not in got


async def test_trailers_behind_a_long_body_are_skipped_wherever_it_is_cut() -> None:
    body = b"%x\r\n%b\r\n0\r\n" % (60_000, b"x" * 60_000)
    asked = echoed(b"Transfer-Encoding: chunked\r\n", body) + b"a: b\r\nc: d\r\n\r\n"
    async with serving(Bounds()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for cut in (len(asked) - 5, len(asked) - 8, len(asked) - 20, 100):
            writer.write(asked[:cut])
            await asyncio.sleep(0.05)
            writer.write(asked[cut:])
            assert (await reader.readuntil(b"x" * 60_000)).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize("body", [b"ok", b""], ids=["a body", "none"])
async def test_trailers_are_counted_for_each_request(body: bytes) -> None:
    asked = CHUNKED if body else CHUNKED.replace(b"2\r\nok\r\n", b"")
    async with serving(Bounds(max_header_bytes=1000)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            for piece in (asked, b"a: b\r\n" * 100, b"\r\n"):
                writer.write(piece)
                await asyncio.sleep(0.02)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(len(body)) == body
        writer.close()


@pytest.mark.parametrize("path", [b"/echo", b"/"], ids=["awaited", "answered"])
@pytest.mark.parametrize("endless", [b"a: b\r\n" * 100, b"a" * 600], ids=["many", "one"])
async def test_endless_trailers_are_cut(path: bytes, endless: bytes) -> None:
    async with serving(Bounds(max_header_bytes=1000)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED.replace(b"/echo", path))
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(endless)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()


async def test_an_endless_extension_of_a_chunk_is_cut() -> None:
    async with serving(Bounds(max_header_bytes=1000)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(echoed(b"Transfer-Encoding: chunked\r\n", b"2;a="))
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"a" * 600)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()


async def test_a_head_is_measured_from_where_it_begins() -> None:
    """Not from the body before it, though they came in one piece."""
    before = echoed(b"Content-Length: 5000\r\n", b"x" * 5000)
    async with serving(Bounds(max_header_bytes=1000)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(before + LAST[:30])
        assert await reader.readuntil(b"x" * 5000)
        writer.write(LAST[30:])
        assert (await reader.read()).endswith(b"ok")
        writer.close()


@pytest.mark.parametrize("size", [500, 900])
async def test_a_long_head_behind_a_body_is_refused(size: int) -> None:
    before = echoed(b"Content-Length: 5000\r\n", b"x" * 5000)
    long = LAST[:-2] + b"B: %b\r\n" % (b"b" * size) * 2
    async with serving(Bounds(max_header_bytes=1000)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(before + long[:-40])
        await asyncio.sleep(0.01)
        writer.write(long[-40:] + b"\r\n")
        assert b"HTTP/1.1 431 " in await reader.read()
        writer.close()
