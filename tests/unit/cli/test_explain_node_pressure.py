"""`bailiff explain node/NAME --pressure` of the demo's node, as a person on call types it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bailiff.cli.app import app
from bailiff_demo import DemoCluster, DemoSettings
from bailiff_demo.fleet import Fleet

pytestmark = pytest.mark.demo


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[tuple[DemoCluster, Path]]:
    settings = DemoSettings(start_seconds=0, stop_seconds=0)
    async with DemoCluster(fleet=Fleet.demo(), settings=settings) as cluster:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(cluster.kubeconfig())
        yield cluster, kubeconfig


async def explained(kubeconfig: Path, *words: str) -> Result:
    arguments = ["explain", *words, "--kubeconfig", str(kubeconfig)]
    return await asyncio.to_thread(CliRunner().invoke, app, arguments)


async def test_a_node_with_enough_of_everything(demo: tuple[DemoCluster, Path]) -> None:
    found = await explained(demo[1], "node/small-1", "--pressure")
    assert found.exit_code == 0
    assert "memory.available              hard" in found.stdout
    assert "nobody goes: no threshold is met; --signal ranks the pods" in found.stdout
    assert found.stderr == "thresholds: the kubelet's own, by its /configz\n"


async def test_who_would_go_first_were_it_low(demo: tuple[DemoCluster, Path]) -> None:
    found = await explained(
        demo[1], "node/small-1", "--pressure", "--signal", "memory.available", "-o", "json"
    )
    assert found.exit_code == 0
    names = [line for line in found.stdout.splitlines() if '"name": "report"' in line]
    assert len(names) == 1


async def test_a_configuration_of_ones_own_counts(
    demo: tuple[DemoCluster, Path], tmp_path: Path
) -> None:
    thresholds = tmp_path / "thresholds.yaml"
    thresholds.write_text("evictionHard: {memory.available: 3Gi}\n")
    found = await explained(demo[1], "node/small-1", "--pressure", "--config", str(thresholds))
    assert found.exit_code == 0
    assert "starved: memory.available" in found.stdout
    assert found.stderr == f"thresholds: of {thresholds}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pod/report",), "--pressure is of a node: say which"),
        (("node/small-1", "--summary", "-"), "reads summary and pods of the cluster"),
        (("node/nowhere",), "Node nowhere does not exist"),
        (("node/node-a",), "error trying to reach service"),
        ((), "say which, as node/node-a"),
    ],
)
async def test_what_cannot_be_asked(
    demo: tuple[DemoCluster, Path], words: tuple[Any, ...], told: str
) -> None:
    found = await explained(demo[1], *words, "--pressure")
    assert found.exit_code != 0
    assert told in found.output
