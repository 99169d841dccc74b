"""`bailiff up` before anything runs: what it refuses, and what it writes where."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

import bailiff_demo.up as module
from bailiff.bootstrap import StartError
from bailiff.cli.app import app
from bailiff_demo import DemoCluster
from bailiff_demo.kubeconfig_file import (
    free_kubeconfig,
    kubeconfig_while_running,
    usual_kubeconfig,
    write_kubeconfig,
)
from bailiff_demo.settings import UpSettings
from bailiff_demo.up import Child, up

FREE = {"rest_port": 0, "grpc_port": 0, "status_port": 0, "cluster_port": 0}


@pytest.mark.parametrize("taken", FREE)
async def test_a_taken_port_is_named_and_nothing_is_started(taken: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    with socket.create_server(("127.0.0.1", 0)) as holder:
        ports = FREE | {taken: holder.getsockname()[1]}
        settings = UpSettings(kubeconfig=kubeconfig)
        program = up(replace(settings, **ports))
        option = f"--{taken.replace('_', '-')}"
        with pytest.raises(StartError, match=f"{option}: cannot listen on .*{option} 0 takes"):
            await program(asyncio.Event())
    assert not kubeconfig.exists()


def test_two_ports_that_are_one_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    program = up(UpSettings(rest_port=port, grpc_port=port, status_port=0, cluster_port=0))
    with pytest.raises(StartError, match="--grpc-port"):
        asyncio.run(program(asyncio.Event()))  # type: ignore[arg-type]  # it is a coroutine


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file or directory"),
        ("a: [", r"\$: not valid YAML"),
        ("{apiVersion: v1, kind: Flower}", "Flower without a name: v1 Flower is not served here"),
    ],
)
async def test_a_fleet_that_cannot_be_is_refused(
    text: str | None, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "fleet.yaml"
    if text is not None:
        path.write_text(text)
    ports = (0, 0, 0, 0)
    settings = UpSettings("127.0.0.1", *ports, kubeconfig=tmp_path / "kubeconfig", fleet=path)
    with pytest.raises(StartError, match=f"^--fleet: {path}: {why}"):
        await up(settings)(asyncio.Event())


async def test_the_kubeconfig_of_a_demo_that_runs_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert await free_kubeconfig(7000) == usual_kubeconfig()
    async with DemoCluster(lively=False) as first:
        write_kubeconfig(usual_kubeconfig(), first.kubeconfig())
        other = await free_kubeconfig(7000)
        assert other == tmp_path / "bailiff" / "demo-7000.kubeconfig"
        assert f"another demo runs at {first.url}" in capsys.readouterr().err
    assert await free_kubeconfig(7000) == usual_kubeconfig()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("meanwhile", "stays"),
    [
        pytest.param(b"# bailiff-demo, this one", False, id="its own"),
        pytest.param(None, False, id="gone already"),
        pytest.param(b"# bailiff-demo, another one", True, id="another demo's"),
        pytest.param(b"\xff", True, id="no text"),
    ],
)
def test_the_kubeconfig_goes_with_its_demo_unless_it_is_another_ones(
    tmp_path: Path, meanwhile: bytes | None, stays: bool
) -> None:
    path = tmp_path / "demo-7000.kubeconfig"
    with kubeconfig_while_running(path, "# bailiff-demo, this one"):
        assert path.read_text() == "# bailiff-demo, this one"
        path.unlink()
        if meanwhile is not None:
            path.write_bytes(meanwhile)
    assert path.exists() == stays


def test_the_kubeconfig_goes_too_where_a_demo_fails(tmp_path: Path) -> None:
    path = tmp_path / "demo.kubeconfig"
    with pytest.raises(StartError), kubeconfig_while_running(path, "# bailiff-demo"):
        raise StartError("not ready")
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "a: [", "clusters: []", "clusters: [{cluster: {server: x}}]"])
async def test_a_kubeconfig_that_names_no_demo_is_none_of_a_running_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual_kubeconfig().parent.mkdir()
    usual_kubeconfig().write_text(text)
    assert await free_kubeconfig(7000) == usual_kubeconfig()


def test_the_kubeconfig_is_always_at_the_same_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert usual_kubeconfig() == tmp_path / "bailiff" / "demo.kubeconfig"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert usual_kubeconfig() == tmp_path / ".cache" / "bailiff" / "demo.kubeconfig"


def test_an_installation_without_the_demo_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bailiff_demo", None)
    result = CliRunner().invoke(app, ["up"])
    assert result.exit_code == 1
    assert "the demo cluster is not part of this installation" in result.output


async def test_a_kubeconfig_of_others_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("clusters: [{name: precious}]")
    settings = UpSettings("127.0.0.1", *(0, 0, 0, 0), kubeconfig=path)
    with pytest.raises(StartError, match="is not written over"):
        await up(settings)(asyncio.Event())
    assert "precious" in path.read_text()


async def test_the_pid_of_a_child_that_is_started_again_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pids = iter((11, 12))

    class Killed:
        """A process that has ended by SIGKILL; the third start ends the test."""

        def __init__(self) -> None:
            self.pid, self.returncode = next(pids), -9

        async def wait(self) -> int:
            return self.returncode

    async def start(*_: object, **__: object) -> Killed:
        try:
            return Killed()
        except StopIteration:
            raise StartError("enough") from None

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(module, "_RESTART_FIRST", 0.0)
    with capture_logs() as lines, pytest.raises(StartError, match="enough"):
        await Child("worker", []).keep_running()
    assert [line["pid"] for line in lines if line["event"] == "child started again"] == [12]
