"""One pool of connections at a time, whoever asks, however often the certificates change."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import structlog
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import Request
from bailiff.cluster.connections import Connections
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.login import Login
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.tls import Tls
from bailiff.cluster.transport import Transport
from tests.harness.clocks import START, ManualClock
from tests.harness.scripted_server import serving
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import aiohttp


def login(host: str = "http://127.0.0.1:1", *, verify: bool = True) -> Login:
    """A login whose TLS differs by `verify`."""
    return Login(host, Tls(verify=verify), expires_at=START + timedelta(seconds=60))


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    own = Connections(4)
    yield own
    await own.close()


async def test_the_same_tls_keeps_the_session(connections: Connections) -> None:
    assert await connections.session(login()) is await connections.session(login())


async def test_a_change_seen_by_many_at_once_opens_one_session(connections: Connections) -> None:
    former = await connections.session(login())
    changed = login(verify=False)
    opened = await asyncio.gather(*(connections.session(changed) for _ in range(5)))
    assert set(map(id, opened)) == {id(await connections.session(changed))}
    assert former.closed


async def test_files_that_cannot_be_used_leave_the_session_as_it_is(
    connections: Connections,
) -> None:
    former = await connections.session(login())
    broken = Login("http://127.0.0.1:1", Tls(ca=b"no certificate"))
    with pytest.raises(k8s.ConfigError):
        await connections.session(broken)
    assert not former.closed
    assert await connections.session(login()) is former


async def test_once_closed_it_opens_nothing_more(connections: Connections) -> None:
    used: aiohttp.ClientSession = await connections.session(login())
    await connections.close()
    assert used.closed
    with pytest.raises(k8s.UnreachableError, match="closed"):
        await connections.session(login())


async def test_who_waits_for_the_former_to_close_is_told_of_a_close_meanwhile(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session that it would get is closed by then, and aiohttp raises RuntimeError in it."""
    former = await connections.session(login())
    close = former.close

    async def closing() -> None:
        await connections.close()
        await close()

    monkeypatch.setattr(former, "close", closing)
    with pytest.raises(k8s.UnreachableError, match="closed"):
        await connections.session(login(verify=False))


@pytest.mark.looptime
async def test_closing_leaves_time_for_what_is_said_in_the_background(
    connections: Connections,
) -> None:
    """TLS says its farewell in callbacks of the loop, for which the session does not wait."""
    await connections.session(login())
    said: list[str] = []
    asyncio.get_running_loop().call_later(0.05, said.append, "farewell")
    await connections.close()
    assert said == ["farewell"]


async def test_watches_and_requests_move_to_the_new_certificates() -> None:
    """What is under way on the connections of before ends as unreachable; what follows works."""
    arrived: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        arrived.append(request.path)
        if request.path == "/now":
            return web.Response(text="{}")
        response = web.StreamResponse()
        if request.path == "/watch":
            await response.prepare(request)
        await asyncio.Event().wait()
        return response

    async with serving(answer) as port:
        host = f"http://127.0.0.1:{port}"
        logins = [login(host), login(host, verify=False)]
        clock = ManualClock()

        async def read() -> Login:
            return logins.pop(0)

        transport = Transport(
            Credentials(read, clock, 1.0, structlog.get_logger()), ClusterSettings()
        )
        async with await transport.open(Request("GET", "/watch")) as watch:
            slow = [asyncio.create_task(failure(transport, m)) for m in ("GET", "DELETE")]
            await until(lambda: len(arrived) == 3)
            clock.advance(61.0)
            assert await transport.send(Request("GET", "/now")) == b"{}"
            with pytest.raises(k8s.UnreachableError):
                await watch.read()
            assert [await one for one in slow] == [k8s.UnreachableError] * 2
        await transport.close()
    assert sorted(arrived) == ["/now", "/slow", "/slow", "/watch"]


async def failure(transport: Transport, method: str) -> type[Exception]:
    with pytest.raises(k8s.ClusterError) as caught:
        await transport.send(Request(method, "/slow"))
    return caught.type
