"""The face on a real socket: what only a socket can show."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import Mock

import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api import RestServer, RestSettings, create_app
from tests.harness.faces.rest_face import CLOCK

LIMIT = 5.0  # seconds for anything here; it is never reached
BODY = b'{"pod":{},"node":{}}'


@contextlib.asynccontextmanager
async def serving(**changes: Any) -> AsyncIterator[tuple[RestServer, int]]:
    settings = RestSettings(port=0, **changes)
    app = create_app(settings, CLOCK, CollectorRegistry(), Options())
    server = RestServer(app, settings)
    port = await server.start()
    try:
        yield server, port
    finally:
        await server.stop(grace=0)


@contextlib.asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(LIMIT):
            yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def post(headers: bytes, body: bytes = b"", path: bytes = b"/v1/decisions") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.strip().split("\r\n")
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return int(status.split()[1]), headers, body


async def test_answers_on_one_connection() -> None:
    async with serving() as (_, port), connected(port) as (reader, writer):
        for _ in range(3):
            writer.write(post(b"Content-Length: %d\r\n" % len(BODY), BODY))
            status, headers, body = await answer(reader)
            assert (status, json.loads(body)["decision"]["verdict"]) == (200, "KEEP")
            assert headers["x-request-id"]
            assert "server" not in headers


async def test_an_idle_connection_keeps_nothing_of_what_it_was_asked() -> None:
    async with serving() as (server, port), connected(port) as (reader, writer):
        padded = BODY + b" " * 100_000
        writer.write(post(b"Content-Length: %d\r\n" % len(padded), padded))
        assert (await answer(reader))[0] == 200
        (connection,) = server.connections
        kept = [value for value in vars(connection).values() if isinstance(value, bytes)]
    assert sum(map(len, kept)) < 1000


async def test_pipelined_and_chunked() -> None:
    chunked = b"Transfer-Encoding: chunked\r\n"
    pieces = b"8\r\n" + BODY[:8] + b"\r\n%x\r\n" % len(BODY[8:]) + BODY[8:] + b"\r\n0\r\n\r\n"
    async with serving() as (_, port), connected(port) as (reader, writer):
        writer.write(post(chunked, pieces) * 2)
        assert [(await answer(reader))[0] for _ in range(2)] == [200, 200]


async def test_who_does_not_read_a_long_answer_keeps_its_bytes_until_it_is_cut_off() -> None:
    pods = [{"metadata": {"name": f"pod-{i}"}} for i in range(12_000)]
    node = {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}}
    asked = {"pods": pods, "node": node, "options": {"explain": True}}
    body = json.dumps(asked).encode()
    head = post(b"Content-Length: %d\r\n" % len(body)).replace(b"decisions", b"decisions/batch")
    async with (
        serving(answer_timeout_seconds=0.5) as (server, port),
        connected(port) as (long, write_long),
    ):
        write_long.write(head + body)
        await long.readuntil(b"\r\n\r\n")  # and no further
        assert server.budget.taken > 0
        while server.budget.taken:
            await asyncio.sleep(0.05)
        async with connected(port) as (reader, writer):
            writer.write(post(b"Content-Length: %d\r\n" % len(BODY), BODY))
            assert (await answer(reader))[0] == 200


async def test_an_idle_connection_whose_answer_is_not_read_is_cut_off() -> None:
    bounds = {"answer_timeout_seconds": 0.05}
    async with serving(**bounds) as (server, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: %d\r\n" % len(BODY), BODY))
        await answer(reader)
        (connection,) = server.connections
        # To close changes nothing while there is something left to be read.
        connection.transport = Mock(wraps=connection.transport, close=Mock())
        connection.timeout_keep_alive_handler()
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""


async def test_a_body_longer_than_announced_is_no_second_request() -> None:
    async with serving() as (_, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: %d\r\n" % len(BODY), BODY + b"garbage\r\n\r\n"))
        status, headers, body = await answer(reader)
        assert (status, json.loads(body)["code"]) == (400, "malformed_request")
        assert json.loads(body)["requestId"] == headers["x-request-id"]
        assert await reader.read() == b""


async def test_a_body_shorter_than_announced_times_out() -> None:
    async with serving(body_timeout_seconds=0.05) as (_, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: 100\r\n", BODY))
        status, _, body = await answer(reader)
        assert (status, json.loads(body)["code"]) == (408, "slow_body")
        assert await reader.read() == b""


async def test_an_endless_chunked_body_is_cut() -> None:
    async with serving(max_body_bytes=1000) as (_, port), connected(port) as (reader, writer):
        writer.write(post(b"Transfer-Encoding: chunked\r\n", path=b"/v1/pressure/admission"))
        writer.write(b"400\r\n" + b" " * 1024 + b"\r\n")
        status, _, body = await answer(reader)
        assert (status, json.loads(body)["code"]) == (413, "body_too_large")
        assert await reader.read() == b""


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", b"GET / HTTP/1.1\r\nX-Slow: "])
async def test_a_head_that_does_not_come_is_not_waited_for(sent: bytes) -> None:
    async with serving(header_timeout_seconds=0.05) as (_, port), connected(port) as (read, write):
        write.write(sent)
        assert await read.read() == b""


async def test_a_second_head_is_bounded_too() -> None:
    async with serving(header_timeout_seconds=0.05) as (_, port), connected(port) as (read, write):
        write.write(post(b"Content-Length: %d\r\n" % len(BODY), BODY))
        assert (await answer(read))[0] == 200
        write.write(b"GET /healthz HT")
        assert await read.read() == b""


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 2000],
        [b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 2000 + b"\r\n\r\n"],
        [b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 600, b"x" * 600 + b"\r\n\r\n"],
        [b"GET /healthz?" + b"x" * 2000 + b" HTTP/1.1\r\n\r\n"],
        [b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n"],
    ],
    ids=["without an end", "in one piece", "in two", "a long path", "many headers"],
)
async def test_a_head_that_is_too_long(pieces: list[bytes]) -> None:
    async with serving(max_header_bytes=1000) as (_, port), connected(port) as (reader, writer):
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.01)
        status, _, body = await answer(reader)
        assert (status, json.loads(body)["code"]) == (431, "head_too_large")
        assert await reader.read() == b""


async def test_a_short_head_before_a_long_body_is_none() -> None:
    body = BODY + b" " * 5000
    async with serving(max_header_bytes=1000) as (_, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: %d\r\n" % len(body), body))
        assert (await answer(reader))[0] == 200


async def test_connections_are_bounded() -> None:
    async with serving(max_connections=1) as (_, port), connected(port) as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await answer(reader))[0] == 200
        async with connected(port) as (second, _writer):
            assert (await answer(second))[0] == 503
            assert await second.read() == b""


async def test_stop_finishes_what_is_being_answered() -> None:
    async with serving() as (server, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: %d\r\n" % len(BODY)))
        await writer.drain()
        await asyncio.sleep(0)
        stopping = asyncio.create_task(server.stop(grace=LIMIT))
        await asyncio.sleep(0)
        writer.write(BODY)
        status, headers, _ = await answer(reader)
        assert status == 200
        await stopping
        with pytest.raises(ConnectionError):
            await asyncio.open_connection("127.0.0.1", port)
        assert headers["content-length"]


async def test_stop_does_not_wait_longer_than_its_grace() -> None:
    async with serving() as (server, port), connected(port) as (reader, writer):
        writer.write(post(b"Content-Length: %d\r\n" % len(BODY)))
        await writer.drain()
        async with asyncio.timeout(LIMIT):
            await server.stop(grace=0)
        await reader.read()
        assert reader.at_eof()


async def test_the_signals_are_left_alone() -> None:
    before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
    async with serving():
        assert [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)] == before


async def test_an_address_in_use_is_an_error() -> None:
    async with serving() as (_, port):
        settings = RestSettings(port=port)
        app = create_app(settings, CLOCK, CollectorRegistry(), Options())
        with pytest.raises(OSError, match="in use"):
            await RestServer(app, settings).start()


async def test_a_server_that_never_started_stops() -> None:
    settings = RestSettings(port=0)
    app = create_app(settings, CLOCK, CollectorRegistry(), Options())
    await RestServer(app, settings).stop(grace=1)
    assert app.state.services.stopping
