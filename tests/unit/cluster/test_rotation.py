"""Certificates that change in place, over real TLS on loopback."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff.cluster import ClusterError, Request, UnreachableError, connect
from tests.harness.kube.tls import ClientCertificate, Tls, make_tls
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path

GET = Request("GET", "/x")


async def answer(_: web.Request) -> web.Response:
    return web.Response(text="{}")


async def test_a_new_ca_is_read_when_the_old_one_does_not_vouch_for_the_server(
    tmp_path: Path,
) -> None:
    """The request that fails reads the file, the next one is sent."""
    former, new = (tmp_path / name for name in ("former", "new"))
    for folder in (former, new):
        folder.mkdir()
    ca = make_tls(former).ca
    tls = make_tls(new)
    async with (
        serving(answer, tls) as port,
        await connect(kubeconfig(tmp_path, port, ca=ca)) as cluster,
    ):
        with pytest.raises(UnreachableError, match=r"(?i)certificate"):
            await cluster.send(GET)
        ca.write_bytes(tls.ca.read_bytes())
        with pytest.raises(UnreachableError):
            await cluster.send(GET)
        assert await cluster.send(GET) == b"{}"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_new_client_certificate_is_read_when_tls_refuses_the_old_one(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    """As a load balancer does that demands certificates; in TLS 1.3 after the handshake."""
    tls, own = make_tls(tmp_path), ClientCertificate(tmp_path)
    own.rotate(make_other_tls(tmp_path))
    user = {"client-certificate": str(own.certificate), "client-key": str(own.key)}
    async with (
        serving(answer, demanding(tls, version)) as port,
        await connect(kubeconfig(tmp_path, port, ca=tls.ca, **user)) as cluster,
    ):
        with pytest.raises(ClusterError):
            await cluster.send(GET)
        own.rotate(tls)
        with pytest.raises(ClusterError):
            await cluster.send(GET)
        assert await cluster.send(GET) == b"{}"


def make_other_tls(folder: Path) -> Tls:
    other = folder / "other"
    other.mkdir()
    return make_tls(other)


def demanding(tls: Tls, version: ssl.TLSVersion) -> ssl.SSLContext:
    """A server's, which takes no client without a certificate of its CA."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=tls.ca)
    context.load_cert_chain(tls.certificate, tls.key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = context.maximum_version = version
    return context
