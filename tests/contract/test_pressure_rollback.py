"""docs/operate/pressure-mode.md, "Roll back pressure mode": removes what the worker has left."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bailiff.worker.systems.pressure.node_writer import ANNOTATION, FIELD_MANAGER
from tests.harness.api import NODES, Bench
from tests.harness.helm.chart import tool

if TYPE_CHECKING:
    from tests.harness.api import Api

pytestmark = pytest.mark.parity

GUIDE = Path(__file__).parents[2] / "docs" / "operate" / "pressure-mode.md"
PRESSURE = ("MemoryPressure", "DiskPressure", "PIDPressure")


async def left_behind(bench: Bench, node: str) -> None:
    """What a worker writes on a node whose kubelet publishes no condition of pressure."""
    told = [{"type": kind, "status": "True"} for kind in PRESSURE]
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node},
        "status": {"conditions": told},
    }
    await bench.cluster.apply(
        NODES, node, "", body, subresource="status", field_manager=FIELD_MANAGER
    )
    note = {"metadata": {"annotations": {ANNOTATION: "{}"}}}
    await bench.cluster.patch(NODES, node, "", note, field_manager=FIELD_MANAGER)


async def told_by_a_kubelet(bench: Bench, node: str, *kinds: str) -> None:
    body = {"status": {"conditions": [{"type": kind, "status": "True"} for kind in kinds]}}
    await bench.cluster.patch(NODES, node, "", body, subresource="status", field_manager="kubelet")


async def roll_back(api: Api, folder: Path) -> None:
    """The commands of the guide, by a shell."""
    [block] = re.findall(r"<!-- roll back: .*? -->\n```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    path = f"{Path(tool('kubectl')).parent}:{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *("sh", "-ec", block),
        cwd=folder,
        env={"PATH": path, "KUBECONFIG": str(api.kubeconfig), "HOME": str(folder)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()


async def conditions(bench: Bench, node: str) -> list[str]:
    found = await bench.cluster.get(NODES, node)
    assert ANNOTATION not in found["metadata"].get("annotations", {})
    return [one["type"] for one in found["status"].get("conditions", [])]


async def test_what_the_worker_has_written_goes_and_nothing_else(
    api: Api, bench: Bench, tmp_path: Path
) -> None:
    ours, theirs = await bench.node(), await bench.node()
    await told_by_a_kubelet(bench, ours, "Ready")
    await told_by_a_kubelet(bench, theirs, "Ready", *PRESSURE)
    await left_behind(bench, ours)
    await bench.cluster.patch(
        NODES,
        theirs,
        "",
        {"metadata": {"annotations": {ANNOTATION: "{}"}}},
        field_manager=FIELD_MANAGER,
    )
    await roll_back(api, tmp_path)
    assert await conditions(bench, ours) == ["Ready"]
    assert sorted(await conditions(bench, theirs)) == sorted(("Ready", *PRESSURE))
