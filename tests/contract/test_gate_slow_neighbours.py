"""The gate beside a webhook that takes its time: what it let go is deleted seconds later."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from bailiff.cluster import ClusterError, PatchType, Request
from tests.harness.api import NAMESPACES, PODS
from tests.harness.budgets import evict
from tests.harness.kube.replicas import LABEL, asked, replicas
from tests.harness.kube.webhook import Webhook
from tests.harness.working import until

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.cluster import Cluster
    from tests.harness.api import Bench
    from tests.harness.kube.apiserver import KubeApiserver

pytestmark = pytest.mark.kube_apiserver

ONE = {"name": "all", "evictions": 1, "seconds": 600}
# As a ReplicaSet draws names: no other pod comes under them.
NAMES = ("web-5d8-bcdf2", "web-5d8-bcdf4", "web-5d8-bcdf5")
REPLICA_SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8", "uid": "x"}


async def bind(bench: Bench, name: str, node: str) -> None:
    """As kube-scheduler does."""
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}}
    body |= {"target": {"kind": "Node", "name": node}}
    path = PODS.path(bench.namespace, name, "binding")
    await bench.cluster.send(Request("POST", path, {}, json.dumps(body).encode()))


async def is_evicted(bench: Bench, name: str) -> bool:
    try:
        await evict(bench, name)
    except ClusterError:
        return False
    return True


async def test_a_pod_that_is_bound_meanwhile_has_taken_its_place(
    kube_apiserver: KubeApiserver, cluster: Cluster, bench: Bench, tmp_path: Path
) -> None:
    labels = {"metadata": {"labels": {LABEL: bench.namespace}}}
    await cluster.patch(NAMESPACES, bench.namespace, "", labels, patch_type=PatchType.MERGE)
    node = await bench.node()
    for name in NAMES:
        await bench.pod(name, ownerReferences=[REPLICA_SET | {"controller": True}])
    store = {"name": f"counts-{bench.namespace}"}
    policies = {"overTime": {"budgets": [ONE], "store": store}}
    slow = Webhook(kube_apiserver.tls, lambda _: None)
    async with (
        replicas(kube_apiserver, tmp_path, policies, count=1) as gate,
        asked(cluster, kube_apiserver, gate, bench.namespace),
        slow.registered(cluster, f"slow-{bench.namespace}", "CREATE", "pods/eviction"),
        asyncio.TaskGroup() as group,
    ):

        async def are_asked() -> bool:
            await is_evicted(bench, "nobody")
            return slow.asked > 0 and await asyncio.to_thread(gate.reviews) > 0

        await until(are_asked)
        slow.opened.clear()
        before = gate.reviews()
        tries = [group.create_task(is_evicted(bench, name)) for name in NAMES]

        async def are_judged() -> bool:
            return await asyncio.to_thread(gate.reviews) == before + len(NAMES)

        await until(are_judged)
        for name in NAMES:
            await bind(bench, name, node)
        slow.opened.set()
        assert sorted(await asyncio.gather(*tries)) == [False, False, True]
