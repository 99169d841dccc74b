"""The service account of a pod: found, rotated, missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bailiff.cluster import ConfigError, connect
from bailiff.cluster.credentials import (
    Credentials,
    in_cluster_reader,
    service_account_namespace,
)
from tests.harness.clocks import ManualClock
from tests.harness.kube.tls import make_tls

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A service account as it is mounted into a pod."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text("one")
    make_tls(tmp_path)
    return tmp_path


async def test_the_service_account_is_read_again_every_minute(account: Path) -> None:
    clock = ManualClock()
    credentials = Credentials(in_cluster_reader(account), clock, 1)
    first = await credentials.current()
    assert (first.configuration.host, first.authorization) == ("https://[::1]:443", "Bearer one")
    (account / "token").write_text("two")
    clock.advance(60)
    assert (await credentials.current()).authorization == "Bearer two"


async def test_a_rotated_service_account_token_is_read_when_it_is_refused(account: Path) -> None:
    credentials = Credentials(in_cluster_reader(account), ManualClock(), 1)
    rejected = await credentials.current()
    (account / "token").write_text("two")
    renewed = await credentials.after_rejection(rejected)
    assert renewed is not None
    assert renewed.authorization == "Bearer two"


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
async def test_a_service_account_without_its_files(account: Path, missing: str) -> None:
    (account / missing).unlink()
    with pytest.raises(ConfigError, match="service account"):
        await in_cluster_reader(account)()


async def test_outside_of_a_pod_there_is_no_service_account() -> None:
    with pytest.raises(ConfigError, match="service account"):
        await connect(in_cluster=True)


def test_the_pods_namespace_is_read(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("platform\n")
    assert service_account_namespace(tmp_path) == "platform"


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_pods_namespace_that_cannot_be_read_is_an_error(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "namespace").write_bytes(content)
    with pytest.raises(ConfigError, match="namespace is not known"):
        service_account_namespace(tmp_path)
