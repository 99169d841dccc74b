"""The service account of a pod: found, rotated, missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import structlog

from bailiff.cluster import ConfigError, connect
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.service_account import in_cluster_reader, service_account_namespace
from tests.harness.clocks import LoopClock, ManualClock
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


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("rotated", ["token", "ca.crt"])
async def test_what_is_rotated_is_read_within_a_minute(account: Path, rotated: str) -> None:
    credentials = Credentials(in_cluster_reader(account), LoopClock(), 1, structlog.get_logger())
    await credentials.start()
    first = await credentials.current()
    assert (first.host, first.authorization) == ("https://[::1]:443", "Bearer one")
    if rotated == "token":
        (account / "token").write_text("two")
    else:
        make_tls(account)
    await asyncio.sleep(61)
    second = await credentials.current()
    assert not second.proves_the_same(first)
    assert second.authorization == f"Bearer {(account / 'token').read_text()}"
    assert second.tls.ca == (account / "ca.crt").read_bytes()
    await credentials.close()


async def test_a_rotated_service_account_token_is_read_when_it_is_refused(account: Path) -> None:
    credentials = Credentials(in_cluster_reader(account), ManualClock(), 1, structlog.get_logger())
    rejected = await credentials.current()
    (account / "token").write_text("two")
    renewed = await credentials.after_rejection(rejected)
    assert renewed is not None
    assert renewed.authorization == "Bearer two"


@pytest.mark.parametrize("spoilt", ["token", "ca.crt"])
@pytest.mark.parametrize("content", [None, "", "\x00 half"])
async def test_a_service_account_without_its_files(
    account: Path, spoilt: str, content: str | None
) -> None:
    (account / spoilt).unlink()
    if content is not None:
        (account / spoilt).write_text(content)
    with pytest.raises(ConfigError):
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
