"""Who may connect to an HTTP port, how often, and for which host."""

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path

import pytest
import uvloop
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from bailiff.serving import Bounds, HttpServer, Refusals
from bailiff.serving.listener import Listener
from bailiff.serving.places import Places
from tests.harness.http_edge import APP, ASK, ASK_LONG, LIMIT, serving, streams
from tests.harness.kube.tls import make_tls
from tests.harness.secured import serving_tls


async def test_connections_of_one_peer_are_bounded_and_others_get_in() -> None:
    async with serving(Bounds(max_connections_per_peer=3)) as port:
        with streams(port) as held:
            for _ in range(3):
                await held.open()
            refused = await held.open()
            told = await refused.read()
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1\r\n" in told
            assert (await held.ask(local_addr=("127.0.0.2", 0))).startswith(b"HTTP/1.1 200 ")
            assert port.refused("peer_connections") == 1
        with streams(port) as later:
            while not (await later.ask()).startswith(b"HTTP/1.1 200 "):
                later.close()


async def test_a_trusted_proxy_is_bounded_only_in_all_and_believed() -> None:
    bounds = Bounds(max_connections_per_peer=1)
    forwarded = (
        b"GET /client HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 9.9.9.9, 10.0.0.7%b\r\n\r\n"
    )
    async with serving(bounds, trusted_proxies="127.0.0.2, 10.1.0.0/16") as port:
        with streams(port) as held:
            for last, client in ((b"", b"10.0.0.7"), (b", 10.1.2.3", b"10.0.0.7")):
                reader = await held.open(forwarded % last, local_addr=("127.0.0.2", 0))
                assert client in await reader.readuntil(client)
            reader = await held.open(forwarded % b"")
            assert b"127.0.0.1" in await reader.readuntil(b"127.0.0.1")


async def test_a_flood_of_refused_connections_is_told_once() -> None:
    async with serving(Bounds(max_connections=1)) as port:
        with streams(port) as held, capture_logs() as logs:
            await held.ask()
            for _ in range(50):
                await (await held.open()).read()
            assert port.refused("connections") == 50
            assert len(logs) == 1
            held.close()


async def test_a_crowd_makes_room_for_who_comes_alone() -> None:
    async with serving(Bounds(max_connections=4)) as port:
        with streams(port) as held:
            idle = await held.open(ASK)
            await idle.readuntil(b"ok")
            for host in ("127.0.0.1", "127.0.0.3", "127.0.0.4"):
                await held.ask(local_addr=(host, 0))
            alone = await held.ask(local_addr=("127.0.0.2", 0))
            assert alone.startswith(b"HTTP/1.1 200 ")
            with contextlib.suppress(ConnectionError):
                assert await idle.read() == b""
            assert (port.refused("room"), port.refused("connections")) == (1, 0)
            assert (await (await held.open()).read()).startswith(b"HTTP/1.1 503 ")


async def test_who_is_being_answered_makes_no_room() -> None:
    async with serving(Bounds(max_connections=2)) as port:
        with streams(port) as held:
            for _ in range(2):
                await held.ask(ASK_LONG)
            told = await (await held.open(local_addr=("127.0.0.2", 0))).read()
            assert told.startswith(b"HTTP/1.1 503 ")
            assert (port.refused("room"), port.refused("connections")) == (0, 1)


class Gone(asyncio.Protocol):
    """A connection that ends at once; its place stays taken."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


async def test_a_flood_leaves_turns_to_those_who_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A second passes whenever somebody looks, and what is taken at once ends after three.
    seconds = count()
    monkeypatch.setattr("bailiff.serving.listener.monotonic", lambda: next(seconds))
    monkeypatch.setattr("bailiff.serving.listener._BITE_SECONDS", 3.5)
    bounds, taken = Bounds(), [0]
    with socket.create_server(("127.0.0.1", 0)) as listening, contextlib.ExitStack() as stack:
        address = listening.getsockname()
        listening.setblocking(False)
        places, refusals = Places(bounds), Refusals(CollectorRegistry())
        listener = Listener(listening, lambda _: Gone(), places, bounds, refusals)
        for _ in range(9):
            stack.enter_context(socket.create_connection(address))
        listener.start(16)
        async with asyncio.timeout(LIMIT):
            while taken[-1] < 9:
                await asyncio.sleep(0)
                taken.append(places.taken)
            await asyncio.sleep(0.1)  # the last are opened, and end
        listener.close()
        await listener.wait_closed()
    assert max(after - before for before, after in pairwise(taken)) == 3


async def test_of_a_flood_few_are_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.serving.listener._TOLD", 2)
    monkeypatch.setattr("bailiff.serving.listener.monotonic", lambda: 100.0)
    async with serving(Bounds(max_connections=1)) as port:
        with streams(port) as held:
            await held.ask()
            told = [await (await held.open()).read() for _ in range(4)]
            assert [one[:12] for one in told] == [b"HTTP/1.1 503"] * 2 + [b""] * 2
            assert port.refused("connections") == 4


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\nHost: evil.org:80\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET / HTTP/1.0\r\n\r\n", b"200"),
        (b"GET / HTTP/1.0\r\nHost: evil.org\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\nHost: known.org\r\n\r\n", b"200"),
        (b"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", b"200"),
        (b"GET / HTTP/1.1\r\nHost: localhost:80:evil.org\r\n\r\n", b"421"),
        (b"GET http://evil.org/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"421"),
        (b"GET http://evil.org:80/ HTTP/1.1\r\nHost: known.org\r\n\r\n", b"421"),
        (b"GET http://known.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n", b"421"),
        (b"GET http://known.org@evil.org/ HTTP/1.1\r\nHost: known.org\r\n\r\n", b"421"),
        (b"GET http://evil.org/ HTTP/1.0\r\n\r\n", b"421"),
        (b"GET http://evil.org HTTP/1.1\r\nHost: localhost\r\n\r\n", b"4"),
        (b"GET http://known.org/ HTTP/1.1\r\nHost: known.org\r\n\r\n", b"200"),
        (b"GET http://known.org/ HTTP/1.0\r\n\r\n", b"200"),
    ],
)
async def test_the_host_must_be_ours(head: bytes, status: bytes) -> None:
    async with serving(allowed_hosts="known.org") as port:
        with streams(port) as held:
            assert (await held.ask(head)).split()[1].startswith(status)


async def test_a_handshake_has_its_place_and_its_time(tmp_path: Path) -> None:
    files = make_tls(tmp_path)
    client = ssl.create_default_context(cafile=files.ca)
    bounds = Bounds(max_connections_per_peer=2, header_timeout_seconds=0.5)
    async with serving(bounds, tls=serving_tls(files)) as port:
        with streams(port) as held:
            assert (await held.ask(ssl=client)).startswith(b"HTTP/1.1 200 ")
            silent = await held.open()
            refused = await held.open()
            assert await refused.read() == b"", "in TLS nobody is told why"
            assert await silent.read() == b"", "its time is over"
            assert (await held.ask(ASK_LONG, ssl=client)).startswith(b"HTTP/1.1 200 ")
            assert [port.refused(one) for one in ("peer_connections", "tls_handshake")] == [1, 1]


async def test_a_handshake_makes_room_for_who_comes_alone(tmp_path: Path) -> None:
    files = make_tls(tmp_path)
    client = ssl.create_default_context(cafile=files.ca)
    async with serving(Bounds(max_connections=4), tls=serving_tls(files)) as port:
        with streams(port) as held:
            silent = await held.open()
            for host in ("127.0.0.1", "127.0.0.3", "127.0.0.4"):
                await held.ask(local_addr=(host, 0), ssl=client)
            alone = await held.ask(local_addr=("127.0.0.2", 0), ssl=client)
            assert alone.startswith(b"HTTP/1.1 200 ")
            assert await silent.read() == b""
            assert port.refused("connections") == 0


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_those_who_are_being_let_in_when_the_server_stops_are_answered(
    loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.serving.listener._BITE", 1)

    async def at_work() -> None:
        while True:
            time.sleep(0.005)  # noqa: ASYNC251 - so that all are open after 300 ms only
            await asyncio.sleep(0)

    async def scene() -> None:
        server = HttpServer(APP, "127.0.0.1", 0)
        port = await server.start()
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        for client in clients:
            client.sendall(ASK)
            client.setblocking(False)
        working = asyncio.create_task(at_work())
        await asyncio.sleep(0.01)  # some are let in by now, and some of those are open
        began = time.monotonic()
        await server.stop(grace=LIMIT)
        assert time.monotonic() < began + LIMIT / 2
        working.cancel()
        for client in clients:
            assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
            client.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(scene())
