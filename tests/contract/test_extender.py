"""The real kube-scheduler with Bailiff as its extender puts pods where the verdicts say."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.cluster import Resource
from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.scheduling import NodePool
from bailiff.kinds import Node, Pod
from bailiff.lookup import ClusterSource
from bailiff.rest_api import RestServer, RestSettings, create_app
from tests.harness.api import PODS, Bench, name_of
from tests.harness.kube.scheduler import (
    kube_scheduler,
    of_guide,
    ready_node,
    register,
    unregister,
)
from tests.harness.objects import object_of, pod_object, taint, tolerating
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.cluster import Cluster
    from tests.harness.api import Api
    from tests.harness.objects import Object

pytestmark = pytest.mark.kube_apiserver

PROGRAM = "tests/contract/test_extender.py"
NODES, EACH = 50, 40
# Kubernetes' own plugins of the same rules do nothing, so that only Bailiff decides by them.
ALONE = {
    "plugins": {
        "multiPoint": {"disabled": [{"name": "TaintToleration"}, {"name": "NodeUnschedulable"}]}
    }
}
# What nodes have; each kind has as many nodes as any other.
KINDS: tuple[Object, ...] = (
    {},
    {"taints": [taint("dedicated", "gpu", "NoSchedule")]},
    {"taints": [taint("dear", "", "PreferNoSchedule")]},
    {"taints": [taint("dear", "", "PreferNoSchedule"), taint("slow", "", "PreferNoSchedule")]},
    {"taints": [taint("spot")]},
    {"taints": [taint("spot"), taint("dedicated", "gpu", "NoSchedule")]},
    {"unschedulable": True},
)
CLASSES: Resource[Object] = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", dict, namespaced=False
)
ANY = {"operator": "Exists"}
GPU = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
# Of the pods.
TOLERATIONS: dict[str, list[Object]] = {
    "plain": [],
    "gpu": [GPU],
    "patient": [tolerating(600, "spot"), GPU],
    "stoic": [ANY],
    "careful": [tolerating(3600, "spot")],
}


def configured(url: str, *, node_cache_capable: bool) -> Object:
    """As the guide has it, asked at this address, with the last word."""
    configuration = of_guide(PROGRAM)
    (extender,) = configuration["extenders"]
    assert extender["urlPrefix"].endswith("/scheduler/extender/v1")
    extender |= {
        "urlPrefix": f"{url}/scheduler/extender/v1",
        "weight": 100,
        "nodeCacheCapable": node_cache_capable,
        # What Bailiff does not answer is to be seen, and not to be passed over.
        "ignorable": False,
        "httpTimeout": "30s",
    }
    return configuration | {"profiles": [{"schedulerName": "default-scheduler", **ALONE}]}


@pytest.fixture
async def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
async def url(cluster: Cluster, registry: CollectorRegistry) -> AsyncIterator[str]:
    """Where Bailiff answers, by this cluster."""
    clock, settings = SystemClock(), RestSettings(host="127.0.0.1", port=0)
    app = create_app(settings, clock, registry, Options(), ClusterSource(cluster, clock))
    server = RestServer(app, settings)
    port = await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(1.0)


@contextlib.asynccontextmanager
async def registered(cluster: Cluster, nodes: list[Object]) -> AsyncIterator[None]:
    await register(cluster, nodes)
    try:
        yield
    finally:
        await unregister(cluster, nodes)


def liked(nodes: list[Object], pod: Object) -> set[str]:
    """The nodes that the core names first for a pod."""
    pool = NodePool(SYSTEMS.all, msgspec.convert(nodes, tuple[Node, ...]))
    judging = pool.at(SystemClock().now(), Options())
    return set(judging.of(msgspec.convert(pod, Pod))[0].nodes)


async def placed(bench: Bench) -> dict[str, str]:
    found = await bench.cluster.list(PODS, namespace=bench.namespace)
    return {name_of(one): one["spec"].get("nodeName", "") for one in found.items}


def asked(registry: CollectorRegistry, verb: str) -> float:
    labels = {"method": "POST", "route": f"/scheduler/extender/v1/{verb}", "status": "200"}
    return registry.get_sample_value("bailiff_rest_requests_total", labels) or 0.0


@pytest.mark.parametrize("node_cache_capable", [True, False], ids=["names", "nodes"])
async def test_200_pods_over_50_nodes_stand_where_the_verdicts_say(
    api: Api,
    bench: Bench,
    url: str,
    registry: CollectorRegistry,
    tmp_path: Path,
    node_cache_capable: bool,
) -> None:
    nodes = [
        ready_node(f"{bench.namespace}-{number:02}") | {"spec": KINDS[number % len(KINDS)]}
        for number in range(NODES)
    ]
    pods = {
        f"{kind}-{number:02}": pod_object(f"{kind}-{number:02}", tolerations=tolerations)
        for kind, tolerations in TOLERATIONS.items()
        for number in range(EACH)
    }
    configuration = configured(url, node_cache_capable=node_cache_capable)
    async with (
        registered(bench.cluster, nodes),
        kube_scheduler(api.kubeconfig, configuration, tmp_path) as program,
    ):
        for pod in pods.values():
            await bench.cluster.create(PODS, pod, bench.namespace)

        async def all_placed() -> bool:
            assert program.running, program.tail()
            return all((await placed(bench)).values())

        await until(all_placed)
        found = await placed(bench)
    assert len(found) == len(pods) == 200
    expected = {name: liked(nodes, pod) for name, pod in pods.items()}
    assert {n: node for n, node in found.items() if node not in expected[n]} == {}
    # Spread by kube-scheduler's own plugins, among those that Bailiff likes alike.
    assert max(Counter(found.values()).values()) < EACH
    assert asked(registry, "filter") >= len(pods)
    assert asked(registry, "prioritize") > 0


@contextlib.asynccontextmanager
async def priorities(bench: Bench, *values: int) -> AsyncIterator[list[str]]:
    """Classes of these priorities; their names."""
    names = [f"{bench.namespace}-{value}" for value in values]
    for name, value in zip(names, values, strict=True):
        made = object_of("PriorityClass", name, value=value)
        await bench.cluster.create(CLASSES, made | {"apiVersion": "scheduling.k8s.io/v1"})
    try:
        yield names
    finally:
        for name in names:
            await bench.cluster.delete(CLASSES, name, "")


async def occupy(bench: Bench, node: Object, priority_class: str) -> str:
    """A pod that has all the room of a node; its name, which is the node's."""
    pod = pod_object(
        name_of(node),
        nodeName=name_of(node),
        priorityClassName=priority_class,
        tolerations=[ANY],
        terminationGracePeriodSeconds=0,
    )
    return name_of(await bench.cluster.create(PODS, pod, bench.namespace))


async def test_nobody_is_evicted_from_a_node_that_would_not_have_the_pod(
    api: Api, bench: Bench, url: str, registry: CollectorRegistry, tmp_path: Path
) -> None:
    shut = ready_node(f"{bench.namespace}-shut", taint("gpu", "", "NoSchedule"), pods="1")
    free = ready_node(f"{bench.namespace}-free", pods="1")
    configuration = configured(url, node_cache_capable=True)
    async with (
        registered(bench.cluster, [shut, free]),
        priorities(bench, 1, 2, 1000) as (lowest, low, high),
    ):
        # By itself kube-scheduler would take the place of whoever has the least priority.
        spared, victim = await occupy(bench, shut, lowest), await occupy(bench, free, low)
        pod = pod_object("urgent", priorityClassName=high)
        await bench.cluster.create(PODS, pod, bench.namespace)
        async with kube_scheduler(api.kubeconfig, configuration, tmp_path) as program:

            async def is_placed() -> str:
                assert program.running, program.tail()
                return (await placed(bench))["urgent"]

            await until(is_placed)
        assert await placed(bench) == {"urgent": victim, spared: spared}
        assert asked(registry, "preempt") == 1


async def test_a_pod_that_has_no_place_is_told_why(
    api: Api, bench: Bench, url: str, tmp_path: Path
) -> None:
    shut = ready_node(f"{bench.namespace}-shut", taint("gpu", "a", "NoSchedule"))
    configuration = configured(url, node_cache_capable=True)
    async with (
        registered(bench.cluster, [shut]),
        kube_scheduler(api.kubeconfig, configuration, tmp_path),
    ):
        await bench.pod("web")

        async def told() -> list[str]:
            conditions = (await bench.get("web"))["status"].get("conditions", [])
            return [one["message"] for one in conditions if one["status"] == "False"]

        await until(told)
        (said,) = await told()
        assert said.startswith("0/1 nodes are available: ")
        assert "1 node(s) had untolerated taint(s): gpu=a:NoSchedule" in said
        assert "Preemption is not helpful" in said
        await unregister(bench.cluster, [shut])
        await register(bench.cluster, [shut | {"spec": {}}])
        await until(lambda: placed_on(bench, "web", name_of(shut)))


async def placed_on(bench: Bench, pod: str, node: str) -> bool:
    return (await placed(bench))[pod] == node
