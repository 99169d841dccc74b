"""HTTPS: who gets a connection, what is known of it, and what a change of the files does to it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvloop
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bailiff.serving import Bounds, Edge, HttpServer, Refusals, ServingTls, peer_of
from tests.harness.kube.tls import Tls, new_pair
from tests.harness.secured import (
    LIMIT,
    client_of,
    followed,
    made,
    serving_tls,
    shown_by,
    trusting,
    until,
)

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def on(request) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Runs a scene on asyncio's own event loop, and on the one that the processes have."""

    def _on(scene: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(asyncio.wait_for(scene, LIMIT))

    return _on


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    return made(tmp_path / "first")


async def tell(request: Request) -> Response:
    """The scheme, and who asks."""
    peer = peer_of(request.scope, dt.datetime.now(dt.UTC))
    who = None if peer is None else [peer.user, *peer.groups]
    return JSONResponse([request.scope["scheme"], who, len(await request.body())])


@contextlib.asynccontextmanager
async def listening(
    tls: ServingTls, bounds: Bounds | None = None, registry: CollectorRegistry | None = None
) -> AsyncIterator[int]:
    edge = Edge(refusals=Refusals(registry))
    app = Starlette(routes=[Route("/", tell, methods=["GET", "POST"])])
    http = HttpServer(app, "127.0.0.1", 0, bounds or Bounds(), edge=edge, tls=tls)
    port = await http.start()
    try:
        yield port
    finally:
        await http.stop(grace=1)


def failed(registry: CollectorRegistry) -> float | None:
    """Handshakes that came to nothing."""
    return registry.get_sample_value("bailiff_http_refused_total", {"reason": "tls_handshake"})


class Client:
    """One connection, kept from request to request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def of(cls, port: int, context: ssl.SSLContext) -> Client:
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=context))

    async def get(self) -> bytes:
        """The body of the answer; raises where there is none."""
        self._writer.write(GET)
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
        return await self._reader.readexactly(int(length))

    def certificate(self) -> bytes | None:
        """Of the server."""
        found: ssl.SSLObject = self._writer.get_extra_info("ssl_object")
        return found.getpeercert(binary_form=True)

    def alpn(self) -> str | None:
        found: ssl.SSLObject = self._writer.get_extra_info("ssl_object")
        return found.selected_alpn_protocol()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def asked(port: int, context: ssl.SSLContext) -> bytes:
    """The answer on a connection of its own."""
    client = await Client.of(port, context)
    try:
        return await client.get()
    finally:
        await client.close()


def test_requests_are_answered_and_say_that_they_came_by_tls(on, tls) -> None:
    async def scene() -> None:
        async with listening(serving_tls(tls)) as port:
            context = trusting(tls)
            context.set_alpn_protocols(["h2", "http/1.1"])
            client = await Client.of(port, context)
            assert client.alpn() == "http/1.1"
            assert await client.get() == await client.get() == b'["https",null,0]'
            await client.close()

    on(scene())


@pytest.mark.parametrize("must", [True, False])
def test_who_is_vouched_for_is_known_by_name(on, tls, tmp_path, must) -> None:
    own = client_of(tls, tmp_path / "own", user="müller,O=x", groups=("a", "b,c"))

    async def scene() -> None:
        async with listening(serving_tls(tls, client_ca=tls.ca, must=must)) as port:
            answer = await asked(port, trusting(tls, own))
            assert answer.decode() == '["https",["müller,O=x","a","b,c"],0]'

    on(scene())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("who", "must", "is_answered"),
    [
        ("nobody", True, False),
        ("nobody", False, True),
        ("a stranger", True, False),
        # Whoever shows one wants to be known by it.
        ("a stranger", False, False),
        ("expired", True, False),
        ("a server", True, False),
        ("a server", False, False),
        ("expired", False, False),
    ],
)
def test_strangers_are_refused(on, tls, tmp_path, who, must, is_answered, version) -> None:
    registry = CollectorRegistry()
    own = shown_by(who, tls, tmp_path)
    context = trusting(tls, own)
    context.maximum_version = version

    async def scene() -> None:
        async with listening(
            serving_tls(tls, client_ca=tls.ca, must=must), registry=registry
        ) as port:
            if is_answered:
                assert await asked(port, context) == b'["https",null,0]'
                return
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await asked(port, context)
            await until(lambda: failed(registry) == 1)

    on(scene())


def test_a_session_of_a_known_client_is_not_resumed(on, tls, tmp_path) -> None:
    """A resumed one is not verified again: its certificate may have expired."""
    context = trusting(tls, client_of(tls, tmp_path / "own"))

    async def scene() -> None:
        async with listening(serving_tls(tls, client_ca=tls.ca)) as port:
            first = await asyncio.to_thread(_session, port, context)
            assert not await asyncio.to_thread(_is_resumed, port, context, first)

    on(scene())


def _connected(port: int, context: ssl.SSLContext, session: Any = None) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
    return context.wrap_socket(plain, server_hostname="127.0.0.1", session=session)


def _session(port: int, context: ssl.SSLContext) -> ssl.SSLSession | None:
    with _connected(port, context) as connection:
        connection.sendall(GET)
        connection.recv(1)  # in TLS 1.3 tickets come with the first data
        return connection.session


def _answered(port: int, context: ssl.SSLContext, session: ssl.SSLSession | None) -> None:
    with _connected(port, context, session) as connection:
        connection.sendall(GET)
        assert connection.recv(1)


def _is_resumed(port: int, context: ssl.SSLContext, session: ssl.SSLSession | None) -> bool | None:
    with _connected(port, context, session) as connection:
        return connection.session_reused


async def _kept(port: int, context: ssl.SSLContext, is_over: asyncio.Event) -> int:
    """Asks on one connection until it is over; how often."""
    client, count = await Client.of(port, context), 0
    while not is_over.is_set() or count < 3:
        assert await client.get() == b'["https",null,0]'
        count += 1
    await client.close()
    return count


async def _anew(
    port: int, context: ssl.SSLContext, is_over: asyncio.Event, seen: set[bytes | None]
) -> int:
    """Asks on one connection after the other; how often."""
    count = 0
    while not is_over.is_set() or count < 3:
        client = await Client.of(port, context)
        seen.add(client.certificate())
        assert await client.get() == b'["https",null,0]'
        await client.close()
        count += 1
    return count


def test_no_request_is_lost_while_certificates_change(on, tls) -> None:
    """On kept connections and on new ones; each new one gets what was in force just before."""
    registry = CollectorRegistry()
    former = ssl.PEM_cert_to_DER_cert(tls.certificate.read_text())
    pairs = [new_pair(tls) for _ in range(3)]
    seen: set[bytes | None] = set()

    async def scene() -> None:
        serving, is_over = serving_tls(tls), asyncio.Event()
        async with (
            followed(serving),
            listening(serving, registry=registry) as port,
            asyncio.TaskGroup() as group,
        ):
            context = trusting(tls)
            kept = [group.create_task(_kept(port, context, is_over)) for _ in range(4)]
            anew = [group.create_task(_anew(port, context, is_over, seen)) for _ in range(4)]
            await until(lambda: former in seen)
            for certificate, key in pairs:
                tls.key.write_bytes(key)
                await asyncio.sleep(0.03)  # in which the two are no pair
                tls.certificate.write_bytes(certificate)
                der = ssl.PEM_cert_to_DER_cert(certificate.decode())
                await until(partial(seen.__contains__, der))
            is_over.set()
            assert sum([await task for task in (*kept, *anew)]) >= 24
        assert len(seen) == 1 + len(pairs)

    on(scene())
    assert failed(registry) == 0


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_ca_that_is_taken_away_vouches_for_nobody_any_more(on, tls, tmp_path, version) -> None:
    other = made(tmp_path / "other")
    before, after = client_of(tls, tmp_path / "a"), client_of(other, tmp_path / "b")
    authorities = tmp_path / "authorities"
    authorities.write_bytes(tls.ca.read_bytes())

    async def scene() -> None:
        serving = serving_tls(tls, client_ca=authorities, must=True)
        context = trusting(tls, before)
        context.maximum_version = version
        async with followed(serving), listening(serving) as port:
            assert b"admin" in await asked(port, context)
            session = await asyncio.to_thread(_session, port, context)
            authorities.write_bytes(other.ca.read_bytes())
            await until(lambda: serving.in_force.content.client_ca == other.ca.read_bytes())
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await asked(port, context)
            # Nor may a session go on that it has vouched for.
            with pytest.raises((OSError, AssertionError)):
                await asyncio.to_thread(_answered, port, context, session)
            assert b"admin" in await asked(port, trusting(tls, after))

    on(scene())


async def hung_up(port: int, sent: bytes = b"") -> None:
    """What is sent without TLS leads to nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    with contextlib.suppress(ConnectionError):
        await reader.read()
    writer.close()


GARBAGE = [GET, b"\x00" * 100, b"\x16\x03\x01\x00\x05hello"]


def test_what_is_no_tls_is_counted_and_not_logged_each_time(on, tls, caplog, capfd) -> None:
    registry = CollectorRegistry()
    caplog.set_level(logging.INFO)

    async def scene() -> None:
        async with listening(serving_tls(tls), registry=registry) as port:
            for sent in GARBAGE:
                await hung_up(port, sent)
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await until(lambda: failed(registry) == len(GARBAGE) + 1)
            assert await asked(port, trusting(tls)) == b'["https",null,0]'

    on(scene())
    assert not [one for one in caplog.records if one.name != "uvicorn.error"]
    # At a limited rate, as all that strangers can cause.
    [line] = capfd.readouterr().out.splitlines()
    assert "http refused" in line


def test_who_begins_no_handshake_is_hung_up_on(on, tls) -> None:
    registry = CollectorRegistry()

    async def scene() -> None:
        bounds = Bounds(header_timeout_seconds=0.05)
        async with listening(serving_tls(tls), bounds, registry) as port:
            await hung_up(port)
            await until(lambda: failed(registry) == 1)

    on(scene())


@pytest.mark.parametrize(
    "bounds", [Bounds(max_connections=2), Bounds(max_connections_per_peer=2)], ids=["all", "peer"]
)
def test_handshakes_count_as_connections(on, tls, bounds) -> None:
    async def scene() -> None:
        async with listening(serving_tls(tls), bounds) as port:
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
            await hung_up(port, GET)
            for one in idle:
                one.close()
            async with asyncio.timeout(LIMIT):
                while not await _is_answered(port, tls):
                    await asyncio.sleep(0.01)

    on(scene())


async def _is_answered(port: int, tls: Tls) -> bool:
    try:
        return await asked(port, trusting(tls)) == b'["https",null,0]'
    except (OSError, asyncio.IncompleteReadError):
        return False


def test_a_stop_waits_for_no_handshake_but_for_requests(on, tls) -> None:
    async def scene() -> None:
        http = HttpServer(
            Starlette(routes=[Route("/", tell, methods=["POST"])]),
            "127.0.0.1",
            0,
            tls=serving_tls(tls),
        )
        port = await http.start()
        idle = socket.create_connection(("127.0.0.1", port))
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting(tls))
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nab")
        await until(lambda: len(http.connections) == 1)
        stopping = asyncio.create_task(http.stop(grace=LIMIT))
        await asyncio.sleep(0.2)
        assert not stopping.done()
        writer.write(b"c")
        assert b'["https",null,3]' in await reader.read()
        await stopping
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        idle.close()

    on(scene())
