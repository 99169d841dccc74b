"""Logging in to the real API server; the demo cluster lets everybody in."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from tests.harness.kube.tls import make_tls

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
            await cluster.list(PODS)
