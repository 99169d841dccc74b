"""What `worker.pressure` adds to the chart's rules: enough, and with one verb less it fails.

The kubelet asks the API server who may read from it, as a real one does.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs

from bailiff.clock import SystemClock
from bailiff.cluster import connect
from tests.harness.addresses import own_address
from tests.harness.api import NODES
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.helm.asking_kubelet import asking
from tests.harness.measuring_kubelet import measured_node
from tests.harness.working import is_going, running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from bailiff.worker import Worker
    from tests.harness.api import Bench
    from tests.harness.kube.apiserver import KubeApiserver
    from tests.harness.measuring_kubelet import MeasuringKubelet

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

LOOPBACK = "127.0.0.1"


def values(via_api_server: str) -> dict[str, Any]:
    pressure = {"enabled": True, "kubelets": {"viaApiServer": via_api_server}}
    return {"worker": {"pressure": pressure}}


STRAIGHT, BY_WAY = values("never"), values("always")


class Scene:
    """A worker under its account, a node, and a pod that is to go."""

    def __init__(
        self, bench: Bench, kubelet: MeasuringKubelet, worker: Worker, logs: list[Any]
    ) -> None:
        self.bench, self.kubelet, self.worker, self.logs = bench, kubelet, worker, logs

    async def going(self) -> bool:
        return await is_going(self.bench, "greedy")

    async def conditions(self) -> set[str]:
        found = await self.bench.cluster.get(NODES, self.kubelet.node)
        return {one["type"] for one in found["status"].get("conditions", [])}

    async def publishes(self) -> bool:
        return "MemoryPressure" in await self.conditions()

    def unknown(self) -> str:
        """Why nothing is known of the node; empty: something is."""
        nodes: Mapping[str, str] = self.worker.systems["pressure"].describe()["unknown"]["nodes"]
        return nodes.get(self.kubelet.node, "")


@contextlib.asynccontextmanager
async def at_work(
    server: KubeApiserver,
    bench: Bench,
    folder: Path,
    chosen: dict[str, Any],
    without: Permission | None = None,
) -> AsyncIterator[Scene]:
    path = await log_in(server, "worker", bench.namespace, without, chosen)
    address = LOOPBACK if chosen is STRAIGHT else own_address()
    with capture_logs() as logs:
        async with (
            await connect(path) as own,
            measured_node(bench, folder, SystemClock(), address) as (kubelet, pressing),
        ):
            if chosen is STRAIGHT:
                kubelet.guard = partial(asking, bench.cluster, kubelet.node)
            await kubelet.pod("greedy", 3900)
            async with running_worker(own, pressing=pressing) as worker:
                yield Scene(bench, kubelet, worker, logs)


@pytest.mark.parametrize("chosen", [STRAIGHT, BY_WAY], ids=["straight", "by way of the API server"])
async def test_under_the_chart_s_rules_pods_go_and_conditions_are_written(
    kube_apiserver: KubeApiserver, bench: Bench, tmp_path: Path, chosen: dict[str, Any]
) -> None:
    async with at_work(kube_apiserver, bench, tmp_path, chosen) as scene:
        await until(scene.going)
        await until(scene.publishes)
        scene.kubelet.gone("greedy")


async def knows_nothing(scene: Scene) -> None:
    await until(scene.unknown)
    await asyncio.sleep(2)
    assert not await scene.going()


async def says_nothing_of_the_node(scene: Scene) -> None:
    await until(scene.going)
    scene.kubelet.gone("greedy")
    assert not await scene.publishes()


FAILS: dict[Permission, tuple[dict[str, Any], str, Callable[[Scene], Awaitable[None]]]] = {
    Permission("nodes/stats", "get"): (STRAIGHT, "subresource(s)=[stats]", knows_nothing),
    Permission("nodes/configz", "get"): (STRAIGHT, "subresource(s)=[configz]", knows_nothing),
    Permission("nodes/proxy", "get"): (BY_WAY, 'cannot get resource "nodes/proxy"', knows_nothing),
    Permission("nodes/status", "patch"): (
        STRAIGHT,
        'cannot patch resource "nodes/status"',
        says_nothing_of_the_node,
    ),
}


@pytest.mark.parametrize("chosen", [STRAIGHT, BY_WAY], ids=["straight", "by way of the API server"])
def test_the_table_names_every_permission_that_the_mode_adds(chosen: dict[str, Any]) -> None:
    # Of conditions the way makes no difference: tried once.
    of_the_way = {one for one, (way, _, _) in FAILS.items() if way is chosen}
    status = Permission("nodes/status", "patch")
    assert of_the_way | {status} == permissions("worker", chosen) - permissions("worker")


@pytest.mark.parametrize("without", FAILS, ids=str)
async def test_with_one_verb_less_something_fails_that_is_told(
    kube_apiserver: KubeApiserver, bench: Bench, tmp_path: Path, without: Permission
) -> None:
    chosen, told, fails = FAILS[without]
    async with at_work(kube_apiserver, bench, tmp_path, chosen, without) as scene:
        await until(lambda: any(told in str(entry) for entry in scene.logs))
        await fails(scene)
