"""Servers that are not there, hang, or have no room: over both transports."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from aiohttp import web

from bailiff.client import (
    ClientSettings,
    DeadlineError,
    OverloadedError,
    Retries,
    UnavailableError,
)
from tests.harness import scripted_grpc
from tests.harness.scripts import (
    GRPC,
    QUESTION,
    QUICK,
    REST,
    Script,
    ok,
    ok_grpc,
    problem,
    scripted,
    status,
)
from tests.harness.ways import WAYS, Ports, client


def unused_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize("way", WAYS)
async def test_nobody_is_there(way: str) -> None:
    port = unused_port()
    async with client(way, Ports(port, port), QUICK) as asking:
        with pytest.raises(UnavailableError) as raised:
            await asking.ask("decide", QUESTION)
    assert raised.value.code == "unreachable"


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_comes_up_meanwhile_is_found(way: str) -> None:
    port = unused_port()
    settings = ClientSettings(retries=Retries(attempts=50, first_pause=0.1, budget=50))
    async with client(way, Ports(port, port), settings) as asking:
        call = asyncio.create_task(asking.ask("decide", QUESTION))
        await asyncio.sleep(0.05)
        script = Script(ok if way in REST else ok_grpc)
        if way in REST:
            runner = web.ServerRunner(web.Server(script.rest))  # type: ignore[arg-type]  # as a Request
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            answer = await call
            await runner.cleanup()
        else:
            async with scripted_grpc.serving(script.grpc, port):
                answer = await call
    assert answer.decision.reason == "NoTaint"


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_hangs_is_given_up_when_time_is_up(way: str) -> None:
    with socket.socket() as listening:
        # The kernel takes connections, and nobody else does.
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        settings = ClientSettings(timeout=0.2, attempt_timeout=0.1)
        async with client(way, Ports(port, port), settings) as asking:
            began = time.monotonic()
            with pytest.raises((DeadlineError, UnavailableError)):
                await asking.ask("decide", QUESTION)
            assert time.monotonic() - began < 2.0


@pytest.mark.parametrize("way", WAYS)
async def test_an_attempt_that_hangs_leaves_time_for_another(way: str) -> None:
    async def hanging(_: Any) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async def hanging_grpc(_: Any) -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    script = Script(hanging, ok) if way in REST else Script(hanging_grpc, ok_grpc)
    settings = ClientSettings(attempt_timeout=0.3)
    async with scripted(way, script) as ports, client(way, ports, settings) as asking:
        answer = await asking.ask("decide", QUESTION)
    assert answer.decision.reason == "NoTaint"
    assert script.calls == 2


BUSY_REST = [
    (429, "too_many_requests", "0"),
    (503, "overloaded", "0"),
    (503, "cluster_unavailable", None),
]
BUSY_GRPC = [
    (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS", 0.01),
    (grpc.StatusCode.UNAVAILABLE, "OVERLOADED", 0.01),
    (grpc.StatusCode.UNAVAILABLE, "IDLE", None),
]


@pytest.mark.parametrize("way", REST)
@pytest.mark.parametrize("busy", BUSY_REST, ids=lambda busy: busy[1])
async def test_no_room_over_rest_is_asked_again(way: str, busy: Any) -> None:
    script = Script(problem(*busy), ok)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        assert (await asking.ask("decide", QUESTION)).decision.reason == "NoTaint"
    assert script.calls == 2


@pytest.mark.parametrize("way", GRPC)
@pytest.mark.parametrize("busy", BUSY_GRPC, ids=lambda busy: busy[1])
async def test_no_room_over_grpc_is_asked_again(way: str, busy: Any) -> None:
    script = Script(status(*busy), ok_grpc)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        assert (await asking.ask("decide", QUESTION)).decision.reason == "NoTaint"
    assert script.calls == 2


@pytest.mark.parametrize("way", WAYS)
async def test_who_asks_for_longer_than_there_is_time_is_told_of(way: str) -> None:
    busy = (
        problem(429, "too_many_requests", "60")
        if way in REST
        else status(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS", 60.0)
    )
    script = Script(busy)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(OverloadedError) as raised:
            await asking.ask("decide", QUESTION)
    assert raised.value.retry_after == 60.0
    assert raised.value.request_id == ("r-1" if way in REST else None)
    assert script.calls == 1
