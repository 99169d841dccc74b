"""Answers that break off, trickle, or come from somebody else."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from aiohttp import web

from bailiff.client import (
    BailiffError,
    ClientSettings,
    DeadlineError,
    ServerError,
    UnavailableError,
)
from tests.harness.scripts import (
    GRPC,
    QUESTION,
    QUICK,
    REST,
    Script,
    ok,
    scripted,
)
from tests.harness.ways import Ports, client


@pytest.mark.parametrize("way", REST)
async def test_a_connection_is_used_again(way: str) -> None:
    peers = set()

    async def telling(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return await ok(request)

    async with scripted(way, Script(telling)) as ports, client(way, ports, QUICK) as asking:
        for _ in range(3):
            await asking.ask("decide", QUESTION)
    assert len(peers) == 1


@pytest.mark.parametrize("way", REST)
async def test_an_answer_that_breaks_off_is_asked_for_again(way: str) -> None:
    async def breaking(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"decision":')
        assert request.transport is not None
        request.transport.abort()
        return response

    script = Script(breaking, ok)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        assert (await asking.ask("decide", QUESTION)).decision.reason == "NoTaint"


@pytest.mark.parametrize("way", REST)
@pytest.mark.parametrize(
    ("body", "code", "error"),
    [
        (web.Response(status=503, text="<html>no upstream"), "unavailable", UnavailableError),
        (web.Response(status=502, text="<html>bad gateway"), "unavailable", UnavailableError),
        (web.Response(status=302, headers={"Location": "/x"}), "http_302", ServerError),
        (web.Response(status=418, text="tea"), "http_418", BailiffError),
        (web.Response(status=500, text='["no problem"]'), "http_500", ServerError),
        (web.Response(text="not JSON"), "unreadable_answer", ServerError),
        (web.Response(text='{"decision": []}'), "unreadable_answer", ServerError),
    ],
    ids=["503", "502", "302", "418", "500", "no JSON", "another type"],
)
async def test_somebody_else_answers(way: str, body: Any, code: str, error: Any) -> None:
    text, headers = body.text, dict(body.headers)

    async def answering(_: web.Request) -> web.Response:
        headers.pop("Content-Length", None)
        headers.pop("Content-Type", None)
        return web.Response(status=body.status, text=text, headers=headers)

    async with scripted(way, Script(answering)) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(error) as raised:
            await asking.ask("decide", QUESTION)
    assert raised.value.code == code


@pytest.mark.parametrize("way", REST)
async def test_an_endless_answer_is_not_read_to_its_end(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.client.rest_words.MAX_ANSWER_BYTES", 1000)

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b" " * 1000)
        return response

    async with scripted(way, Script(endless)) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(ServerError, match="endless"):
            await asking.ask("decide", QUESTION)


@pytest.mark.parametrize("way", REST)
async def test_a_header_that_trickles_is_given_up(way: str) -> None:
    async def trickling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.append(asyncio.current_task())
        # A client may give up before it has asked.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            for byte in b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 100:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)
        writer.close()

    answering: list[Any] = []
    server = await asyncio.start_server(trickling, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = ClientSettings(timeout=0.3, attempt_timeout=0.2)
    async with client(way, Ports(port, port), settings) as asking:
        began = time.monotonic()
        with pytest.raises(DeadlineError):
            await asking.ask("decide", QUESTION)
        assert time.monotonic() - began < 2.0
    server.close()
    await asyncio.gather(*answering)


@pytest.mark.parametrize("way", REST)
async def test_an_answer_that_trickles_is_given_up(way: str) -> None:
    async def trickling(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.05)
        return response

    settings = ClientSettings(timeout=0.3, attempt_timeout=0.2)
    async with scripted(way, Script(trickling)) as ports, client(way, ports, settings) as asking:
        began = time.monotonic()
        with pytest.raises(DeadlineError):
            await asking.ask("decide", QUESTION)
        assert time.monotonic() - began < 2.0


@pytest.mark.parametrize("way", GRPC)
async def test_statuses_without_words_of_bailiff(way: str) -> None:
    async def plain(context: Any) -> AsyncIterator[bytes]:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")
        yield b""

    async with scripted(way, Script(plain)) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(BailiffError) as raised:
            await asking.ask("decide", QUESTION)
    assert raised.value.code == "unimplemented"


@pytest.mark.parametrize("way", REST)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "[" * 100_000),
        (400, "[" * 100_000),
        (400, '{"errors": 5}'),
        (500, '{"errors": true}'),
        (500, '{"detail": "\\ud800"}'),
    ],
)
async def test_nonsense_is_a_failure_that_can_be_printed(way: str, status: int, body: str) -> None:
    async def nonsense(_: web.Request) -> web.Response:
        return web.Response(text=body, status=status)

    async with scripted(way, Script(nonsense)) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(BailiffError) as raised:
            await asking.ask("decide", QUESTION)
    assert str(raised.value).encode()


def test_a_token_is_not_printed() -> None:
    assert "SECRET" not in repr(ClientSettings(token="SECRET"))
