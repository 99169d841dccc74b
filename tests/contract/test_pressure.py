"""A worker in pressure mode on an API server, beside a kubelet that measures and does not act."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.cluster import NotFoundError, Resource
from tests.harness.addresses import own_address
from tests.harness.api import PODS
from tests.harness.in_tree import kube_controller_manager
from tests.harness.measuring_kubelet import measured_node
from tests.harness.objects import Object
from tests.harness.pressure_scene import Scene
from tests.harness.working import is_going, running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.cluster import Cluster
    from tests.harness.api import Api, Bench
    from tests.harness.clocks import JumpingClock

pytestmark = pytest.mark.parity

JOBS: Resource[Object] = Resource("batch", "v1", "jobs", dict)
SOFT = {
    "evictionHard": {"memory.available": "1Mi"},
    "evictionSoft": {"memory.available": "500Mi"},
    "evictionSoftGracePeriod": {"memory.available": "10m"},
    "evictionPressureTransitionPeriod": "5m",
}


@pytest.fixture
async def scene(bench: Bench, tmp_path: Path, clock: JumpingClock) -> AsyncIterator[Scene]:
    async with measured_node(bench, tmp_path, clock) as (kubelet, pressing):
        yield Scene(bench, kubelet, pressing)


async def test_memory_pressure_evicts_the_right_pod_in_the_kubelets_words(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    await kubelet.pod("calm", 300)
    await kubelet.pod("greedy", 400)
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await until(lambda: scene.says("MemoryPressure", "False"))
        assert not await scene.going("greedy")
        kubelet.used["greedy"] = 3500
        await until(lambda: scene.going("greedy"))
        await until(lambda: scene.says("MemoryPressure", "True"))
        kubelet.gone("greedy")
        held = await scene.condition("MemoryPressure")
    assert held["reason"] == "KubeletHasInsufficientMemory"
    assert not await scene.going("calm")
    assert "Evicted" in await scene.events("greedy")
    told = await scene.events(kubelet.node)
    assert {"EvictionThresholdMet", "NodeHasInsufficientMemory"} <= set(told)


async def test_the_status_of_a_pod_that_takes_its_time_says_that_it_was_evicted(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    pod = await kubelet.pod("greedy", 3900, finalizers=["example.com/witness"])
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await until(lambda: scene.going("greedy"))

        async def is_failed() -> bool:
            found = await scene.bench.get("greedy")
            return bool(found["status"]["phase"] == "Failed")

        await until(is_failed)
        found = await scene.bench.get("greedy")
        kubelet.gone("greedy")
    status = found["status"]
    assert found["metadata"]["deletionGracePeriodSeconds"] <= 1
    assert status["reason"] == "Evicted"
    assert status["message"].startswith("The node was low on resource: memory. ")
    (told,) = [one for one in status["conditions"] if one["type"] == "DisruptionTarget"]
    assert (told["status"], told["reason"]) == ("True", "TerminationByKubelet")
    body = {"metadata": {"finalizers": None}}
    await scene.bench.cluster.patch(PODS, pod["metadata"]["name"], scene.bench.namespace, body)


async def test_with_the_status_alone_the_pod_stays_failed(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    await kubelet.pod("greedy", 3900)
    async with running_worker(as_worker, clock=clock, pressing=scene.with_mode(keeps_pods=True)):

        async def is_failed() -> bool:
            return bool((await scene.bench.get("greedy"))["status"]["phase"] == "Failed")

        await until(is_failed)
        kubelet.gone("greedy")
        await asyncio.sleep(2)
    found = await scene.bench.get("greedy")
    assert "deletionTimestamp" not in found["metadata"]
    assert found["status"]["reason"] == "Evicted"


async def test_critical_pods_survive(scene: Scene, as_worker: Cluster, clock: JumpingClock) -> None:
    kubelet = scene.kubelet
    body_spec = {"priorityClassName": "system-node-critical"}
    await kubelet.pod("calm", 100)
    vital = await scene.bench.cluster.create(
        PODS, _critical(kubelet.node, body_spec), scene.bench.namespace
    )
    kubelet.adopt(await scene.bench.set_status(vital, phase="Running"), 3900)
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await until(lambda: scene.going("calm"))
        kubelet.gone("calm")
        clock.skip(60)
        await until(lambda: scene.says("MemoryPressure", "True"))
        await asyncio.sleep(3)
    assert not await scene.going("vital")


async def test_a_restart_in_the_middle_of_a_grace_period_loses_none_of_it(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    kubelet.configuration = SOFT
    await kubelet.pod("greedy", 3700)

    async def is_noted() -> bool:
        annotations = (await scene.node())["metadata"].get("annotations", {})
        return "thresholds" in annotations.get("bailiff.dev/pressure-state", "")

    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await until(is_noted)
        for _ in range(4):
            clock.skip(100)
            await asyncio.sleep(2.5)
        assert not await scene.going("greedy")
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await asyncio.sleep(3)
        assert not await scene.going("greedy")
        clock.skip(150)
        await asyncio.sleep(3)
        clock.skip(60)
        await until(lambda: scene.going("greedy"))
        kubelet.gone("greedy")


async def test_a_node_whose_kubelet_does_not_answer_is_unknown_and_keeps_its_pods(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    await kubelet.pod("greedy", 300)
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing) as worker:
        pressure = worker.systems["pressure"]
        await until(lambda: scene.says("MemoryPressure", "False"))
        kubelet.away = True
        await until(lambda: pressure.describe()["unknown"]["count"] == 1)
        kubelet.used["greedy"] = 3900
        await asyncio.sleep(3)
        assert not await scene.going("greedy")

        async def is_told() -> bool:
            return "PressureUnknown" in await scene.events(kubelet.node)

        await until(is_told)
        kubelet.away = False
        await until(lambda: scene.going("greedy"))
        kubelet.gone("greedy")


@pytest.mark.kube_apiserver
async def test_a_kubelet_may_be_asked_by_way_of_the_api_server(
    bench: Bench, as_worker: Cluster, clock: JumpingClock, tmp_path: Path
) -> None:
    async with measured_node(bench, tmp_path, clock, own_address()) as (kubelet, pressing):
        await kubelet.pod("greedy", 3900)
        async with running_worker(as_worker, clock=clock, pressing=pressing):
            await until(lambda: is_going(bench, "greedy"))
            kubelet.gone("greedy")


@pytest.mark.kube_apiserver
@pytest.mark.parametrize("keeps_pods", [False, True])
async def test_a_job_that_ignores_disruptions_makes_its_pod_anew(
    scene: Scene,
    api: Api,
    as_worker: Cluster,
    clock: JumpingClock,
    tmp_path: Path,
    *,
    keeps_pods: bool,
) -> None:
    """Whether the pod is deleted or only said to be evicted, no failure is counted."""
    kubelet, bench = scene.kubelet, scene.bench
    await bench.cluster.create(JOBS, _job(kubelet.node), bench.namespace)
    pressing = scene.with_mode(keeps_pods=keeps_pods)
    async with (
        kube_controller_manager(api, tmp_path, "--controllers=job-controller"),
        running_worker(as_worker, clock=clock, pressing=pressing),
    ):
        first = await _pod_of_the_job(bench, ())
        first = kubelet.adopt(await bench.set_status(first, phase="Running"), 3900)
        name = first["metadata"]["name"]

        async def is_evicted() -> bool:
            with contextlib.suppress(NotFoundError):
                return bool((await bench.get(name))["status"].get("reason") == "Evicted")
            return True

        await until(is_evicted)
        kubelet.gone(name)
        if not keeps_pods:
            # Its kubelet would do so now.
            await bench.remove(name)
        second = await _pod_of_the_job(bench, (name,))
        job = await bench.cluster.get(JOBS, "work", bench.namespace)
    assert second["metadata"]["name"] != name
    assert not job["status"].get("failed")
    assert "Failed" not in {one["type"] for one in job["status"].get("conditions", [])}


async def _pod_of_the_job(bench: Bench, besides: tuple[str, ...]) -> Object:
    found: list[Object] = []

    async def is_there() -> bool:
        listed = (await bench.cluster.list(PODS, namespace=bench.namespace)).items
        found[:] = [one for one in listed if one["metadata"]["name"] not in besides]
        return bool(found)

    await until(is_there)
    return found[0]


def _job(node: str) -> Object:
    """One that fails with its first pod, but for disruptions."""
    ignore = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    containers = [{"name": "main", "image": "registry.example/app"}]
    pod = {"nodeName": node, "restartPolicy": "Never", "containers": containers}
    spec = {"backoffLimit": 0, "podFailurePolicy": {"rules": [ignore]}, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"}, "spec": spec}


def _critical(node: str, spec: dict[str, Any]) -> dict[str, Any]:
    containers = [{"name": "main", "image": "registry.example/app"}]
    body = {"nodeName": node, "containers": containers} | spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "vital"}, "spec": body}
