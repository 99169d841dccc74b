"""The runbook for a silent node, followed to the letter on a real API server."""

from __future__ import annotations

import asyncio
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bailiff.bootstrap.node_loss import Losing
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.kube.hooks import kubectl
from tests.harness.lost_nodes import Fleet
from tests.harness.working import running_worker, until

if TYPE_CHECKING:
    from bailiff.cluster import Cluster
    from tests.harness.api import Api, Bench

pytestmark = pytest.mark.kube_apiserver

RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbooks" / "node-silent.md").read_text()
COMMANDS = re.findall(r"^ *(kubectl .+)$", RUNBOOK, re.MULTILINE)
SETTINGS = NodeLossSettings(after=3.0, silent_after=3.0, rate=5.0)


async def said(api: Api, command: str) -> str:
    _, *words = shlex.split(command)
    ran = await kubectl(api.kubeconfig, *words)
    assert ran.code == 0, f"{command}: {ran}"
    return ran.out


async def test_each_step_says_what_the_runbook_says(
    api: Api, bench: Bench, as_worker: Cluster
) -> None:
    async with Fleet(bench).living() as fleet:
        lost, *_ = await fleet.add(4, "runbook")
        await fleet.pod("db-0", lost, owner="StatefulSet")
        mode = NodeLossMode(settings=SETTINGS)
        async with running_worker(as_worker, losing=Losing(mode, None)):
            await asyncio.sleep(2)
            fleet.silent.add(lost)
            await until(lambda: fleet.is_ending("db-0"))
            steps = [command.replace("NODE", lost) for command in COMMANDS]
            ready, lease, note, events, pods, *counts, volumes, refusals, taint, untaint = steps
            assert (await said(api, ready)).strip() == "True"
            assert (await said(api, lease)).startswith("20")
            assert '"state":"Silent"' in await said(api, note)
            assert "DeletingAllPods" in await said(api, events)
            row = next(line for line in (await said(api, pods)).splitlines() if "db-0" in line)
            assert row.split()[2] == "StatefulSet"
            assert row.split()[4] == "NodeLost"
            assert len(counts) == 2
            for looks in (*counts, volumes, refusals):
                await said(api, looks)
            await said(api, taint)
            await until(lambda: fleet.is_gone("db-0"))
            await said(api, untaint)
            assert "node.kubernetes.io/out-of-service" not in await fleet.taints(lost)
