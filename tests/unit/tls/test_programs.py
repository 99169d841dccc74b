"""`bailiff serve` and `bailiff worker`: each of their ports has TLS, and follows the files."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bailiff.bootstrap.access import AccessChoice
from bailiff.bootstrap.choices import ClusterChoice, Program
from bailiff.bootstrap.serve import ServeSettings, serve
from bailiff.bootstrap.settings import WorkSettings
from bailiff.bootstrap.work import work
from bailiff.serving import ServingTls
from tests.harness.kube.tls import Tls, new_pair
from tests.harness.scripted_server import kubeconfig
from tests.harness.secured import LIMIT, LOOK_EVERY, client_of, made, trusting


def program_of(port: str, access: AccessChoice, folder: Path) -> Program:
    if port == "status":
        # Nobody answers there, which is no matter to the status.
        choice = ClusterChoice(kubeconfig(folder, 1))
        return work(WorkSettings(choice, status_port=0, access=access))
    return serve(ServeSettings(rest_port=0, grpc_port=0, access=access))


@contextlib.asynccontextmanager
async def listening(port: str, access: AccessChoice, folder: Path) -> AsyncIterator[int]:
    """One of the three ports of a program that runs."""
    stop = asyncio.Event()
    with capture_logs() as logs:
        task = asyncio.ensure_future(program_of(port, access, folder)(stop))
        try:
            async with asyncio.timeout(LIMIT):
                yield await _port_of(port, logs, task)
        finally:
            stop.set()
            await task


async def _port_of(port: str, logs: list[Any], task: asyncio.Future[None]) -> int:
    while not task.done():
        for line in logs:
            if port in line and line["event"].endswith("starts"):
                address: str = line[port]
                assert address.startswith("https://") or port == "grpc"
                return int(address.rpartition(":")[2])
        await asyncio.sleep(0.01)
    await task
    raise AssertionError("it has ended")


def served(port: int, context: ssl.SSLContext) -> bytes:
    """The certificate of who answers. In TLS 1.3 a client learns by reading that it is refused."""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
    ):
        is_grpc = secured.selected_alpn_protocol() == "h2"
        secured.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if is_grpc else GET)
        if is_grpc:
            secured.sendall(b"\0\0\0\4\0\0\0\0\0")  # settings of the client, none
        assert secured.recv(9)
        return secured.getpeercert(binary_form=True) or b""


GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("port", ["rest", "grpc", "status"])
async def test_each_port_lets_in_who_is_vouched_for_and_follows_the_files(
    port, tmp_path, monkeypatch
) -> None:
    quick = partial(ServingTls, look_every=LOOK_EVERY)
    monkeypatch.setattr("bailiff.bootstrap.securing.ServingTls", quick)
    tls = made(tmp_path / "first")
    contexts = [
        trusting(tls, client_of(tls, tmp_path / "own")),
        trusting(tls, client_of(made(tmp_path / "other"), tmp_path / "stranger")),
        trusting(tls),
    ]
    for context in contexts:
        context.set_alpn_protocols(["h2"] if port == "grpc" else ["http/1.1"])
    access = AccessChoice(
        tls_cert_file=tls.certificate, tls_private_key_file=tls.key, client_ca_file=tls.ca
    )
    async with listening(port, access, tmp_path) as number:
        ours, stranger, nobody = contexts
        assert await asyncio.to_thread(served, number, ours) == der_of(tls)
        for other in (stranger, nobody):
            with pytest.raises((OSError, AssertionError)):
                await asyncio.to_thread(served, number, other)
        renewed = renew(tls)
        while await asyncio.to_thread(served, number, ours) != renewed:
            await asyncio.sleep(LOOK_EVERY)


def der_of(tls: Tls) -> bytes:
    return ssl.PEM_cert_to_DER_cert(tls.certificate.read_text())


def renew(tls: Tls) -> bytes:
    """Another certificate in its files; that."""
    certificate, key = new_pair(tls)
    tls.key.write_bytes(key)
    tls.certificate.write_bytes(certificate)
    return der_of(tls)
