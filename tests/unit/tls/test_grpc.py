"""gRPC over TLS: who is let in, what is known of it, and what a change of the files does to it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import grpc
import pytest
import uvloop
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.serving import ServingTls
from bailiff.serving.tls import TlsContent
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.clocks import ManualClock
from tests.harness.faces.grpc_face import NODE, POD
from tests.harness.kube.tls import ClientCertificate, Tls, new_pair
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

SETTINGS = GrpcSettings(port=0)
REQUEST = pb.DecideRequest(pod=POD, node=NODE)


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    return made(tmp_path / "first")


@contextlib.asynccontextmanager
async def running(
    tls: ServingTls, registry: CollectorRegistry | None = None, settings: GrpcSettings = SETTINGS
) -> AsyncIterator[int]:
    registry = registry or CollectorRegistry()
    server = create_server(settings, ManualClock(), registry, Options(), tls=tls)
    port = await server.start()
    try:
        yield port
    finally:
        await server.stop(0)


def channel_to(port: int, tls: Tls, own: ClientCertificate | None = None) -> grpc.aio.Channel:
    pair = () if own is None else (own.key.read_bytes(), own.certificate.read_bytes())
    credentials = grpc.ssl_channel_credentials(tls.ca.read_bytes(), *pair)
    # Else channels to one address share one connection.
    alone = (("grpc.use_local_subchannel_pool", 1),)
    return grpc.aio.secure_channel(f"127.0.0.1:{port}", credentials, alone)


async def decided(channel: grpc.aio.Channel) -> bool:
    """Whether a question is answered; False: there is no connection."""
    code = await EvictionDecisionServiceStub(channel).Decide(REQUEST, timeout=LIMIT).code()
    assert code in {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    return code is grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("who", "must", "is_answered"),
    [
        ("ours", True, True),
        ("nobody", True, False),
        ("a stranger", True, False),
        ("expired", True, False),
        ("a server", True, False),
        ("ours", False, True),
        ("nobody", False, True),
        # Whoever shows one wants to be known by it.
        ("a stranger", False, False),
        ("expired", False, False),
    ],
)
async def test_strangers_are_refused(tls, tmp_path, who, must, is_answered) -> None:
    own = shown_by(who, tls, tmp_path)
    async with (
        running(serving_tls(tls, client_ca=tls.ca, must=must)) as port,
        channel_to(port, tls, own) as channel,
    ):
        assert await decided(channel) == is_answered


async def test_who_has_no_tls_is_refused(tls) -> None:
    async with (
        running(serving_tls(tls)) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        assert not await decided(channel)


def test_who_is_vouched_for_is_known_by_name(tls, tmp_path) -> None:
    """On the event loop that the processes have."""
    own = client_of(tls, tmp_path / "own", user="müller,O=x", groups=("a", "b,c"))

    async def scene() -> None:
        now, names = dt.datetime.now(dt.UTC), []
        serving = serving_tls(tls, client_ca=tls.ca)
        server = create_server(SETTINGS, ManualClock(), CollectorRegistry(), Options(), tls=serving)
        port = await server.start()
        for one in (None, own):
            async with channel_to(port, tls, one) as channel:
                assert await decided(channel)
                # What grpcio calls its peer.
                [name] = [name for name in server.doorman._connections if name not in names]
                names.append(name)
                who = server.doorman.peer(name, now)
                if one is None:
                    assert who is None
                    continue
                assert who is not None
                assert (who.user, who.groups) == ("müller,O=x", ("a", "b,c"))
                late = who.expires_at + dt.timedelta(seconds=1)
                assert server.doorman.peer(name, late) is None
        await until(lambda: server.doorman.peer(names[-1], now) is None)
        assert server.doorman.peer("ipv4:127.0.0.1:1", now) is None
        await server.stop(0)

    uvloop.run(asyncio.wait_for(scene(), LIMIT))


def served(port: int, tls: Tls) -> bytes:
    """The certificate that a new connection gets."""
    context = trusting(tls)
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
    ):
        assert secured.selected_alpn_protocol() == "h2"
        return secured.getpeercert(binary_form=True) or b""


async def _asking(port: int, tls: Tls, is_over: asyncio.Event, *, anew: bool) -> int:
    """Asks until it is over, on one connection or each time on another; how often."""
    count = 0
    async with contextlib.AsyncExitStack() as kept:
        channel = await kept.enter_async_context(channel_to(port, tls))
        while not is_over.is_set() or count < 3:
            if anew:
                async with channel_to(port, tls) as one:
                    assert await decided(one)
            else:
                assert await decided(channel)
            count += 1
    return count


def is_over_with(serving: ServingTls, content: TlsContent) -> bool:
    return serving.in_force.content is not content


async def test_no_call_is_lost_while_certificates_change(tls) -> None:
    pairs = [new_pair(tls) for _ in range(3)]
    serving, is_over = serving_tls(tls), asyncio.Event()
    async with followed(serving), running(serving) as port, asyncio.TaskGroup() as group:
        asking = [
            group.create_task(_asking(port, tls, is_over, anew=anew)) for anew in (True, False) * 2
        ]
        for certificate, key in pairs:
            before = await asyncio.to_thread(served, port, tls)
            tls.key.write_bytes(key)
            await asyncio.sleep(0.03)  # in which the two are no pair
            assert await asyncio.to_thread(served, port, tls) == before
            tls.certificate.write_bytes(certificate)
            content = serving.in_force.content
            await until(partial(is_over_with, serving, content))
            der = ssl.PEM_cert_to_DER_cert(certificate.decode())
            assert await asyncio.to_thread(served, port, tls) == der
        is_over.set()
        assert sum([await one for one in asking]) >= 12


async def test_a_ca_that_is_taken_away_vouches_for_nobody_any_more(tls, tmp_path) -> None:
    other, authorities = made(tmp_path / "other"), tmp_path / "authorities"
    before, after = client_of(tls, tmp_path / "a"), client_of(other, tmp_path / "b")
    authorities.write_bytes(tls.ca.read_bytes())
    serving = serving_tls(tls, client_ca=authorities, must=True)
    async with followed(serving), running(serving) as port:
        async with channel_to(port, tls, before) as channel:
            assert await decided(channel)
        authorities.write_bytes(other.ca.read_bytes())
        await until(lambda: serving.in_force.content.client_ca == other.ca.read_bytes())
        async with channel_to(port, tls, before) as channel:
            assert not await decided(channel)
        async with channel_to(port, tls, after) as channel:
            assert await decided(channel)


def ended(registry: CollectorRegistry, reason: str) -> float | None:
    return registry.get_sample_value("bailiff_grpc_connections_ended_total", {"reason": reason})


async def test_what_is_no_tls_is_counted_and_not_logged_each_time(tls, caplog, capfd) -> None:
    registry = CollectorRegistry()
    caplog.set_level(logging.INFO)
    async with running(serving_tls(tls), registry) as port:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"no TLS at all" * 10)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            writer.close()
        await until(lambda: ended(registry, "tls_handshake") == 3)
        assert registry.get_sample_value("bailiff_grpc_connections") == 0
    assert not caplog.records
    [line] = capfd.readouterr().out.splitlines()
    assert "TLS handshake failed" in line


async def test_who_begins_no_handshake_is_hung_up_on(tls) -> None:
    settings = GrpcSettings(port=0, message_timeout_seconds=0.05)
    async with running(serving_tls(tls), settings=settings) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()


async def test_handshakes_count_as_connections(tls) -> None:
    settings = GrpcSettings(port=0, max_connections_per_peer=2, message_timeout_seconds=10 * LIMIT)
    registry = CollectorRegistry()
    async with running(serving_tls(tls), registry, settings) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        async with asyncio.timeout(LIMIT):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert ended(registry, "refused") == 1
        for _, writer in idle:
            writer.close()
        await until(lambda: registry.get_sample_value("bailiff_grpc_connections") == 0)
        async with channel_to(port, tls) as channel:
            assert await decided(channel)


async def test_a_handshake_that_fails_for_any_reason_leaves_its_place(tls, monkeypatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    registry = CollectorRegistry()
    async with running(serving_tls(tls), registry) as port:
        with monkeypatch.context() as patched:
            loop = asyncio.get_running_loop()
            patched.setattr(loop, "connect_accepted_socket", fail)
            told: list[BaseException] = []
            loop.set_exception_handler(lambda _, about: told.append(about["exception"]))
            for _ in range(3):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
                writer.close()
        await until(lambda: registry.get_sample_value("bailiff_grpc_connections") == 0)
        assert [str(one) for one in told] == ["out of order"] * 3
        async with channel_to(port, tls) as channel:
            assert await decided(channel)
