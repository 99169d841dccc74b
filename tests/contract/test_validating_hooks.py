"""Bailiff's validating hooks, asked by a real kube-apiserver over TLS: what kubectl shows of it."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import ForbiddenError, PatchType, Request
from bailiff.decisions.policies import BlastRadius, Policies
from bailiff.lookup import ClusterSource
from bailiff.webhooks import hooks_of
from tests.harness.admission import app_of, parts_of
from tests.harness.api import NODES, PODS
from tests.harness.budgets import LABELS, budget
from tests.harness.device_objects import BROKEN, GROUP, SLICES, device_taint, rule
from tests.harness.kube.hooks import Ran, Registered, kubectl, registered
from tests.harness.objects import KEY, condition, pod_object, taint, tolerating
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI

    from tests.harness.api import Api, Bench
    from tests.harness.gpus import Gpus
    from tests.harness.kube.apiserver import KubeApiserver

pytestmark = pytest.mark.kube_apiserver

TAINT = f"{KEY}=row-7:NoExecute"
ACKNOWLEDGED = "bailiff.dev/acknowledged-taints"
LABEL = "hooked"


def app_over(bench: Bench, radius: BlastRadius | None) -> FastAPI:
    source = ClusterSource(bench.cluster, SystemClock())
    policies = Policies(blast_radius=radius)
    parts = replace(parts_of(source), policies=lambda: policies)
    return app_of(*hooks_of(parts))


@asynccontextmanager
async def asked(
    bench: Bench, server: KubeApiserver, *hooks: Registered, radius: BlastRadius | None = None
) -> AsyncIterator[None]:
    """The API server asks about what has the test's label, or lives in its namespace."""
    app = app_over(bench, radius)
    async with registered(bench.cluster, bench.namespace, app, server.tls, *hooks):
        yield


def labelled(bench: Bench) -> dict[str, Any]:
    return {"objectSelector": {"matchLabels": {LABEL: bench.namespace}}}


def within(bench: Bench) -> dict[str, Any]:
    name = {"kubernetes.io/metadata.name": bench.namespace}
    return {"namespaceSelector": {"matchLabels": name}}


def of_nodes(bench: Bench) -> Registered:
    return Registered("validate/nodes", ("nodes",), selectors=labelled(bench))


async def hooked_node(bench: Bench) -> str:
    node = await bench.node()
    body = {"metadata": {"labels": {LABEL: bench.namespace}}}
    await bench.cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)
    return node


async def tainted(api: Api, node: str, *more: str) -> Ran:
    return await kubectl(api.kubeconfig, "taint", "node", node, TAINT, *more)


async def in_force(api: Api, node: str, warning: str) -> Ran:
    """The API server begins to ask a moment after it has been told to."""
    seen: list[Ran] = []

    async def warns() -> bool:
        seen.append(await tainted(api, node, "--dry-run=server"))
        return warning in "".join(seen[-1].warnings)

    await until(warns)
    return seen[-1]


async def test_kubectl_taint_prints_what_goes_and_whose_budget_that_breaks(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    node = await hooked_node(bench)
    for number in range(3):
        await bench.pod(f"now-{number}", node=node, labels=LABELS)
    await bench.pod("later", node=node, tolerations=[tolerating(300)])
    await budget(bench)
    told = f"PodDisruptionBudget {bench.namespace}/web would be violated"
    async with asked(bench, kube_apiserver, of_nodes(bench)):
        await in_force(api, node, told)
        ran = await tainted(api, node)
        assert (ran.code, ran.errors) == (0, "")
        assert ran.warnings == [f"evicts 3 pods now, 1 in 300 s; {told} (bailiff: node {node})"]
        away = await tainted(api, node, "--overwrite")
        assert (away.code, away.warnings) == (0, [])
        removed = await kubectl(api.kubeconfig, "taint", "node", node, f"{TAINT}-")
        assert (removed.code, removed.warnings) == (0, [])


async def test_an_oversized_taint_is_refused_and_passes_once_it_is_acknowledged(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    node = await hooked_node(bench)
    for number in range(3):
        await bench.pod(f"p-{number}", node=node)
    radius = BlastRadius(max_pods=2)
    async with asked(bench, kube_apiserver, of_nodes(bench), radius=radius):
        await in_force(api, node, "evicts 3 pods now")
        ran = await tainted(api, node)
        assert ran.code == 1
        assert ran.warnings == [f"evicts 3 pods now (bailiff: node {node}, {TAINT})"]
        assert "(Forbidden)" in ran.errors
        assert f"blastRadius: {TAINT} evicts 3 pods, more than 2" in ran.errors
        # As the refusal advises.
        _, _, advice = ran.errors.partition(f"annotate Node {node} first: ")
        assert advice.strip() == f"{ACKNOWLEDGED}='{TAINT}'"
        annotated = await kubectl(
            api.kubeconfig, "annotate", "node", node, advice.strip().replace("'", "")
        )
        assert annotated.code == 0
        assert (await tainted(api, node)).code == 0


async def test_the_same_taint_on_two_nodes_and_a_namespace_that_loses_too_much(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    first, second = await hooked_node(bench), await hooked_node(bench)
    for node in (first, second):
        for number in range(2):
            await bench.pod(f"{node}-{number}", node=node)
    for _ in range(3):
        await bench.finished_pod(node=await bench.node())
    key = f"example.com/{bench.namespace}"

    async def taints(node: str) -> Ran:
        return await kubectl(api.kubeconfig, "taint", "node", node, f"{key}:NoExecute")

    async with asked(bench, kube_apiserver, of_nodes(bench), radius=BlastRadius(max_pods=3)):
        await in_force(api, first, "evicts 2 pods now")
        assert (await taints(first)).code == 0
        ran = await taints(second)
        assert ran.warnings == [f"evicts 2 pods now (bailiff: node {second}, {key}:NoExecute)"]
        assert f"{key}:NoExecute evicts 4 pods, more than 3" in ran.errors
    radius = BlastRadius(max_namespace_fraction=0.5, min_namespace_pods=4)
    async with asked(bench, kube_apiserver, of_nodes(bench), radius=radius):
        await in_force(api, second, "evicts 2 pods now")
        ran = await taints(second)
        assert f"evicts 4 of 4 pods (100 %) of namespace {bench.namespace}" in ran.errors


async def test_taints_of_kubernetes_own_controllers_pass_whatever_they_evict(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    node = await hooked_node(bench)
    for number in range(3):
        await bench.pod(f"p-{number}", node=node)
    radius = BlastRadius(max_pods=2)
    async with asked(bench, kube_apiserver, of_nodes(bench), radius=radius):
        await in_force(api, node, "evicts 3 pods now")
        await bench.taint(node, taint("node.kubernetes.io/unreachable"))


async def pressed(bench: Bench, *kinds: str) -> str:
    node = await bench.node()
    body = {"status": {"conditions": [condition(one) for one in kinds]}}
    await bench.cluster.patch(NODES, node, "", body, subresource="status")
    return node


async def bind(bench: Bench, pod: str, node: str, *, dry_run: bool = False) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod},
        "target": {"kind": "Node", "name": node},
    }
    path = f"{PODS.path(bench.namespace, pod)}/binding"
    query = {"dryRun": "All"} if dry_run else {}
    await bench.cluster.send(Request("POST", path, query, json.dumps(body).encode()))


def of_bindings(bench: Bench) -> Registered:
    return Registered("validate/bindings", ("pods/binding",), ("CREATE",), selectors=within(bench))


def of_pods(bench: Bench) -> Registered:
    return Registered("validate/pods", ("pods",), selectors=within(bench))


async def test_no_scheduler_binds_a_pod_that_the_kubelet_would_not_start(
    bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    full, tolerable = await pressed(bench, "MemoryPressure"), await bench.node()
    await bench.pod("greedless")
    async with asked(bench, kube_apiserver, of_bindings(bench)):

        async def refused() -> bool:
            try:
                await bind(bench, "greedless", full, dry_run=True)
            except ForbiddenError as error:
                return "would not start the pod: The node had condition" in str(error)
            return False

        await until(refused)
        await bind(bench, "greedless", tolerable)
    assert (await bench.get("greedless"))["spec"]["nodeName"] == tolerable


async def test_a_pod_that_would_be_evicted_from_its_node_is_warned_of(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    node, full = await bench.node(taint(KEY)), await pressed(bench, "DiskPressure")
    body = pod_object("patient", nodeName=node, tolerations=[tolerating(60)])
    given = json.dumps(body)
    create = ("create", "-n", bench.namespace, "-f", "-")
    async with asked(bench, kube_apiserver, of_pods(bench)):
        seen: list[Ran] = []

        async def warned() -> bool:
            dry = await kubectl(api.kubeconfig, *create, "--dry-run=server", given=given)
            seen.append(dry)
            return bool(dry.warnings)

        await until(warned)
        ran = await kubectl(api.kubeconfig, *create, given=given)
        assert ran.code == 0
        (warning,) = ran.warnings
        assert warning.startswith(f"evicted in 60 s from node {node} by {KEY}:NoExecute")
        refused = json.dumps(pod_object("unlucky", nodeName=full))
        ran = await kubectl(api.kubeconfig, *create, given=refused)
        assert ran.code == 1
        assert f"the kubelet of node {full} would not start the pod" in ran.errors
        # It runs: what is written of it later is nobody's business.
        await bench.set_status(await bench.get("patient"), phase="Running")
        await bench.taint(node, taint(KEY), taint("more"))
        labels = {"metadata": {"labels": {"a": "b"}}}
        await bench.cluster.patch(PODS, "patient", bench.namespace, labels)


async def test_a_rule_for_devices_is_refused_until_it_acknowledges_what_it_does(
    api: Api, bench: Bench, gpus: Gpus, kube_apiserver: KubeApiserver
) -> None:
    await gpus.pod("trainer")
    await gpus.pod("another")
    recall = rule(gpus.name, pool=gpus.name)
    recall["metadata"]["labels"] = {LABEL: bench.namespace}
    create = ("create", "-f", "-")
    hook = Registered(
        "validate/devicetaintrules", ("devicetaintrules",), group=GROUP, selectors=labelled(bench)
    )
    async with asked(bench, kube_apiserver, hook, radius=BlastRadius(max_pods=1)):
        seen: list[Ran] = []

        async def warns() -> bool:
            given = json.dumps(recall)
            seen.append(await kubectl(api.kubeconfig, *create, "--dry-run=server", given=given))
            return bool(seen[-1].warnings)

        await until(warns)
        assert seen[-1].warnings == [f"evicts 2 pods now (bailiff: DeviceTaintRule {gpus.name})"]
        assert f"DeviceTaintRule {gpus.name} evicts 2 pods, more than 1" in seen[-1].errors
        recall["metadata"]["annotations"] = {ACKNOWLEDGED: f"DeviceTaintRule {gpus.name}"}
        ran = await kubectl(api.kubeconfig, *create, given=json.dumps(recall))
        assert (ran.code, ran.warnings) == (0, seen[-1].warnings)


async def test_so_is_what_a_driver_taints_in_a_slice(
    bench: Bench, gpus: Gpus, kube_apiserver: KubeApiserver
) -> None:
    await gpus.pod("trainer")
    await gpus.pod("another")
    merge = PatchType.MERGE
    labels = {"metadata": {"labels": {LABEL: bench.namespace}}}
    await bench.cluster.patch(SLICES, gpus.name, "", labels, patch_type=merge)
    hook = Registered(
        "validate/resourceslices", ("resourceslices",), group=GROUP, selectors=labelled(bench)
    )
    devices = [{"name": "gpu-0", "taints": [device_taint()]}, {"name": "gpu-1"}]
    body = {"spec": {"devices": devices}}
    async with asked(bench, kube_apiserver, hook, radius=BlastRadius(max_pods=1)):

        async def refused() -> bool:
            try:
                await bench.cluster.patch(
                    SLICES, gpus.name, "", body, patch_type=merge, dry_run=True
                )
            except ForbiddenError as error:
                cause = f"device taint {BROKEN}=yes:NoExecute"
                return f"blastRadius: {cause} evicts 2 pods, more than 1" in str(error)
            return False

        await until(refused)
        cause = {ACKNOWLEDGED: f"device taint {BROKEN}=yes:NoExecute"}
        await bench.cluster.patch(
            SLICES, gpus.name, "", body | {"metadata": {"annotations": cause}}, patch_type=merge
        )
