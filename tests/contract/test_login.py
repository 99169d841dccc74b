"""Logging in to the real API server; the demo cluster lets everybody in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bailiff.cluster import (
    PODS,
    ForbiddenError,
    Request,
    UnauthorizedError,
    UnreachableError,
    connect,
)
from tests.harness.clocks import JumpingClock
from tests.harness.kube.exec_plugins import plugin, says
from tests.harness.kube.tls import ClientCertificate, make_tls

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.kube.apiserver import KubeApiserver

pytestmark = pytest.mark.kube_apiserver


async def test_a_stranger_is_unauthorized(kube_apiserver: KubeApiserver) -> None:
    path = kube_apiserver.write_kubeconfig("stranger", {"token": "wrong"})
    async with await connect(path) as cluster:
        with pytest.raises(UnauthorizedError) as caught:
            await cluster.list(PODS)
    assert "wrong" not in repr(caught.value)


async def test_a_user_without_rights_is_forbidden(kube_apiserver: KubeApiserver) -> None:
    path = kube_apiserver.write_kubeconfig("nobody", {"token": kube_apiserver.nobody_token})
    async with await connect(path) as cluster:
        with pytest.raises(ForbiddenError, match="nobody"):
            await cluster.list(PODS)


async def test_a_rotated_token_file_is_read_when_the_old_token_is_refused(
    kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("expired\n")
    path = kube_apiserver.write_kubeconfig("rotated", {"tokenFile": str(token)})
    async with await connect(path) as cluster:
        token.write_text(f"{kube_apiserver.token}\n")
        assert await cluster.send(Request("GET", "/api"))


async def test_a_client_certificate_that_was_rotated_in_place_is_read_when_it_is_refused(
    kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    path = kube_apiserver.client_certificate(tmp_path, life=-1.0)
    async with await connect(path) as cluster:
        with pytest.raises(UnauthorizedError):
            await cluster.list(PODS)
    async with await connect(path) as cluster:
        kube_apiserver.rotate(tmp_path)
        await cluster.list(PODS)


async def test_a_half_rotated_certificate_is_not_taken_and_a_whole_one_is(
    kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    """The certificate is replaced before its key; what was good stays in use."""
    clock = JumpingClock()
    own = ClientCertificate(tmp_path)
    path = kube_apiserver.client_certificate(tmp_path, life=-1.0)
    async with await connect(path, clock=clock) as cluster:
        former = own.key.read_bytes()
        kube_apiserver.rotate(tmp_path)
        new = own.key.read_bytes()
        own.key.write_bytes(former)
        with pytest.raises(UnauthorizedError):
            await cluster.list(PODS)
        own.key.write_bytes(new)
        clock.skip(5)
        await cluster.list(PODS)


async def test_an_exec_plugin_gives_certificates(
    kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    """The first that it gives have expired; it is asked again when the server refuses them."""
    kube_apiserver.client_certificate(tmp_path, life=-1.0)
    own = ClientCertificate(tmp_path)

    def user() -> dict[str, Any]:
        pair = {"clientCertificateData": own.certificate, "clientKeyData": own.key}
        return plugin(tmp_path, says(**{key: file.read_text() for key, file in pair.items()}))

    async with await connect(kube_apiserver.write_kubeconfig("plugin", user())) as cluster:
        kube_apiserver.rotate(tmp_path)
        user()
        await cluster.list(PODS)


async def test_a_server_that_our_ca_does_not_vouch_for_is_not_talked_to(
    kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    content = yaml.safe_load(kube_apiserver.kubeconfig.read_text())
    own = content["clusters"][0]["cluster"]
    del own["certificate-authority-data"]
    own["certificate-authority"] = str(make_tls(tmp_path).ca)
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(content))
    async with await connect(path) as cluster:
        with pytest.raises(UnreachableError, match=r"(?i)certificate"):
            await cluster.send(Request("GET", "/version"))
