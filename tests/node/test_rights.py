"""Under the chart's rules an agent evicts; with one right less it does not, and says why."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from bailiff.cluster import connect
from tests.harness.agent_process import agent_process
from tests.harness.api import NAMESPACES
from tests.harness.helm.accounts import Permission, log_in
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, node_cgroup
from tests.harness.node_needs import needs, no_cgroups
from tests.harness.objects import object_of

pytestmark = needs(no_cgroups() or ("" if assets() else WHY_NOT))
CHOSEN = {"agent": {"enabled": True, "mode": "act", "kubelet": {"enabled": False}}}
THRESHOLDS = {"evictionHard": {"memory.available": "100Mi"}, "enforceNodeAllocatable": []}


@pytest.fixture(scope="module")
def server():
    with KubeApiserver() as started:
        yield started


@pytest.mark.parametrize(
    ("without", "words"),
    [
        (None, '"event":"evicted"'),
        (Permission("pods/status", "patch"), "cannot patch resource"),
        (Permission("pods", "delete"), "cannot delete resource"),
        (Permission("pods", "watch"), "cannot watch resource"),
    ],
    ids=str,
)
async def test_rights(server, tmp_path, without, words):
    namespace = f"bailiff-{secrets.token_hex(3)}"
    async with await connect(server.kubeconfig) as cluster:
        await cluster.create(NAMESPACES, object_of("Namespace", namespace))
        kubeconfig = await log_in(server, "agent", namespace, without, CHOSEN)
        with node_cgroup(tmp_path, 256 * MIB) as node:
            api = NodeApi(cluster, lambda uid: node.pods[uid].kill())
            if without is None:
                await api.set_up()
            name, uid = await api.add("hog", memory="10Mi")
            taking = node.add(uid)
            taking.load(200, 180)
            options = ("--kubeconfig", str(kubeconfig), "--cgroup", node.name)
            with agent_process(tmp_path, *options, thresholds=THRESHOLDS) as agent:
                taking.start()
                async with asyncio.timeout(30):
                    while words not in agent.log.read_text():
                        await asyncio.sleep(0.1)
                if without is not None:
                    assert agent.lines("evicted") == []
            await api.remove(name)
