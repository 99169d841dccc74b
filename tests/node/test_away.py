"""The API server is away and memory is low: containers are stopped where they may be."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.cluster import connect
from bailiff.decisions.pressure.garbage import ContainerState
from tests.harness.agent_process import agent_process
from tests.harness.held import held
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, node_cgroup
from tests.harness.node_needs import needs, no_runtime
from tests.harness.node_runtime import node_runtime

pytestmark = needs(no_runtime() or ("" if assets() else WHY_NOT))
THRESHOLDS = {"evictionHard": {"memory.available": "100Mi"}, "enforceNodeAllocatable": []}


@pytest.mark.parametrize("may_stop", [True, False])
async def test_the_api_server_hangs(tmp_path, may_stop):
    with (
        KubeApiserver() as server,
        node_runtime() as runtime,
        node_cgroup(tmp_path, 256 * MIB) as node,
    ):
        async with await connect(server.kubeconfig) as cluster:
            api = NodeApi(cluster, lambda _: None)
            await api.set_up()
            name, uid = await api.add("hog")
            container = await (await runtime.add_pod(name, uid)).add_container(
                "main", runtime.image
            )
            node.add(uid).load(200, 180)
            options = (
                *("--kubeconfig", str(server.kubeconfig), "--cgroup", node.name),
                *("--runtime", runtime.socket, "--state-file", str(tmp_path / "state")),
                *(["--stop-containers"] if may_stop else []),
            )
            with agent_process(tmp_path, *options, thresholds=THRESHOLDS) as agent:
                await until(lambda: agent.get("/v1/agent").get("reason") == "NoPressure")
                with held(server.apiserver.pid):
                    node.pods[uid].start()
                    await until(lambda: agent.lines("not evicted"), 40)
                    if may_stop:
                        await until(lambda: agent.lines("containers stopped"))
                (found,) = [one for one in await runtime.client.containers() if one.id == container]
                stopped = found.state is ContainerState.EXITED
                assert stopped is may_stop
                await until(
                    lambda: agent.lines("told of an eviction") or agent.lines("evicted"), 40
                )
            (pod,) = await api.pods()
            assert pod["metadata"]["deletionTimestamp"]
            assert pod["status"]["reason"] == "Evicted"


async def until(true, seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.1)
