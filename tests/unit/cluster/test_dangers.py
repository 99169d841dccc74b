"""Logins that others than the API server can make use of are warned of, once."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from bailiff.bootstrap.choices import ClusterChoice
from bailiff.bootstrap.once import use_cluster
from bailiff.cluster import Cluster, connect
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.login import Login
from bailiff.cluster.tls import Tls
from tests.harness.clocks import LoopClock
from tests.harness.logins import TIMEOUT, Script
from tests.harness.scripted_server import kubeconfig

UNCHECKED, IN_THE_CLEAR = "insecure-skip-tls-verify", "without TLS"


@pytest.mark.parametrize(
    ("login", "told"),
    [
        (Login("https://a"), []),
        (Login("https://a", authorization="Bearer x"), []),
        (Login("https://a", Tls(verify=False)), [UNCHECKED]),
        (Login("https://127.0.0.1:6443", Tls(verify=False)), [UNCHECKED]),
        (Login("http://a", authorization="Bearer x"), [IN_THE_CLEAR]),
        (Login("http://192.0.2.1:8080/a", authorization="Basic x"), [IN_THE_CLEAR]),
        (Login("http://[2001:db8::1]", authorization="Bearer x"), [IN_THE_CLEAR]),
        (Login("http://127.0.0.1.example", authorization="Bearer x"), [IN_THE_CLEAR]),
        # Nothing is checked where there is no TLS, and nothing goes that could be read.
        (Login("http://a", Tls(verify=False)), []),
        (Login("http://127.0.0.1:8080", authorization="Bearer x"), []),
        (Login("http://[::1]:8080", authorization="Bearer x"), []),
        (Login("http://localhost:8080", authorization="Bearer x"), []),
    ],
)
def test_what_is_dangerous(login, told) -> None:
    found = list(login.dangers())
    assert len(found) == len(told)
    for text, part in zip(found, told, strict=True):
        assert part in text
        assert "Bearer" not in text


@pytest.mark.looptime
async def test_a_danger_is_told_once_and_again_when_it_has_been_away() -> None:
    bad, good = Login("https://a", Tls(verify=False)), Login("https://a")
    heard: list[str] = []
    credentials = Credentials(
        Script(bad, bad, good, bad), LoopClock(), TIMEOUT, structlog.get_logger(), heard.append
    )
    await credentials.start()
    counts = [len(heard)]
    for _ in range(3):
        credentials._renew_at = 0.0
        await credentials._renewed()
        counts.append(len(heard))
    await credentials.close()
    assert counts == [1, 1, 1, 2]


def unchecked(folder: Path) -> Path:
    """A kubeconfig that takes whatever certificate the server has; nobody listens there."""
    path = kubeconfig(folder, 1)
    text = path.read_text().replace("http://127.0.0.1:1", "https://127.0.0.1:1")
    path.write_text(text.replace("server:", "insecure-skip-tls-verify: true\n    server:"))
    return path


async def test_who_connects_is_told(tmp_path) -> None:
    heard: list[str] = []
    async with await connect(unchecked(tmp_path), warn=heard.append):
        assert len(heard) == 1
    assert UNCHECKED in heard[0]


async def test_a_process_writes_it_to_its_log(tmp_path) -> None:
    with capture_logs() as logs:
        async with await connect(unchecked(tmp_path)):
            [line] = logs
    assert line["log_level"] == "warning"
    assert UNCHECKED in line["reason"]


def test_a_command_says_it_on_standard_error(tmp_path, capsys) -> None:
    """Standard output is for the answer."""

    async def nothing(_: Cluster) -> None:
        return

    use_cluster(ClusterChoice(unchecked(tmp_path)), nothing)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Warning: ")
    assert UNCHECKED in said.err
