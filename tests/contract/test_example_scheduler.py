"""The scheduler of examples/scheduler, as its own process, at an API server and at Bailiff."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bailiff.cluster import Cluster, PatchType
from tests.harness.api import NODES, PODS, Api, Bench, name_of
from tests.harness.objects import pod_object
from tests.harness.ways import serving

ROOT = Path(__file__).parents[2]
LIMIT = 30.0


def access(kubeconfig: Path, folder: Path) -> list[str]:
    """The options by which it reaches the API server."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    token, authority = folder / "token", folder / "ca.crt"
    token.write_text(user["token"])
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    server = ("--server", cluster["server"])
    return [*server, "--token-file", str(token), "--ca-file", str(authority)]


class Stage:
    """A bench, and who schedules its pods."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench, self.name = bench, name

    async def node(self, *taints: dict[str, Any], labels: dict[str, str] | None = None) -> str:
        """A node that the scheduler knows: a pod that tolerates all went there.

        kube-apiserver gives new ones a taint, as of a node that is not ready yet.
        """
        node = await self.bench.node()
        named = {"node": node}
        body = {"spec": {"taints": list(taints)}, "metadata": {"labels": named | (labels or {})}}
        await self.bench.cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)
        first = await self.pod(nodeSelector=named, tolerations=[{"operator": "Exists"}])
        assert await self.place(first) == node
        return node

    async def pod(self, **spec: Any) -> str:
        body = pod_object(f"pod-{secrets.token_hex(4)}", schedulerName=self.name, **spec)
        return name_of(await self.bench.cluster.create(PODS, body, self.bench.namespace))

    async def place(self, pod: str) -> str:
        """The node that the pod has got."""
        async with asyncio.timeout(LIMIT):
            while True:
                found = await self.bench.get(pod)
                if node := found["spec"].get("nodeName"):
                    return str(node)
                await asyncio.sleep(0.05)


@pytest.fixture
async def stage(api: Api, bench: Bench, tmp_path: Path) -> AsyncIterator[Stage]:
    name = f"scheduler-{secrets.token_hex(4)}"
    log = tmp_path / "log"
    async with serving() as ports:
        with log.open("w") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "examples.scheduler", "--name", name),
                *("--bailiff", f"127.0.0.1:{ports.grpc}", *access(api.kubeconfig, tmp_path)),
                cwd=ROOT,
                stderr=output,
            )
        try:
            yield Stage(bench, name)
            assert process.returncode is None, log.read_text()[-2000:]
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            print(log.read_text())


LEAVES = {"key": "leaves", "effect": "NoExecute"}
NO_EXECUTE = {"operator": "Exists", "effect": "NoExecute"}
TOLERATES = NO_EXECUTE | {"key": "leaves", "tolerationSeconds": 3600}
BRIEFLY = NO_EXECUTE | {"key": "briefly", "tolerationSeconds": 60}


@pytest.fixture
async def nodes(stage: Stage, cluster: Cluster) -> dict[str, str]:
    """Of the zone of this test: others may share the server."""
    zone = {"zone": stage.name}
    return {
        "long": await stage.node(LEAVES, labels=zone),
        "brief": await stage.node({"key": "briefly", "effect": "NoExecute"}, labels=zone),
        "shut": await stage.node({"key": "shut", "effect": "NoSchedule"}, labels=zone),
    }


async def test_a_pod_goes_where_it_may_stay_longest(stage: Stage, nodes: dict[str, str]) -> None:
    zone = {"zone": stage.name}
    pod = await stage.pod(nodeSelector=zone, tolerations=[BRIEFLY, TOLERATES])
    assert await stage.place(pod) == nodes["long"]
    free = await stage.node(labels=zone)
    pod = await stage.pod(nodeSelector=zone, tolerations=[BRIEFLY, TOLERATES])
    assert await stage.place(pod) == free


async def test_pods_are_spread_over_nodes_that_are_alike(stage: Stage) -> None:
    zone = {"zone": stage.name}
    free = {await stage.node(labels=zone) for _ in range(3)}
    pods = [await stage.pod(nodeSelector=zone) for _ in range(6)]
    placed = [await stage.place(pod) for pod in pods]
    assert sorted(placed) == sorted([*free, *free])


async def test_a_pod_without_a_node_waits_until_there_is_one(
    stage: Stage, nodes: dict[str, str], cluster: Cluster
) -> None:
    pod = await stage.pod(nodeSelector={"zone": stage.name})
    first = await stage.pod(nodeSelector={"zone": stage.name}, tolerations=[BRIEFLY])
    assert await stage.place(first) == nodes["brief"]
    assert not (await stage.bench.get(pod))["spec"].get("nodeName")
    await stage.bench.taint(nodes["shut"])
    assert await stage.place(pod) == nodes["shut"]


async def test_pods_of_other_schedulers_are_left_alone(stage: Stage, nodes: dict[str, str]) -> None:
    other = await stage.bench.pod()
    own = await stage.pod(nodeSelector={"zone": stage.name}, tolerations=[BRIEFLY])
    await stage.place(own)
    assert not other["spec"].get("nodeName")
