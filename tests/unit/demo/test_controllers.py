"""The pretended rest of a cluster, with the demo fleet. Nothing here waits longer than it must."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest

from bailiff_demo import DemoCluster, DemoSettings, Fleet
from bailiff_demo.controllers import Scheduler
from tests.unit.demo.api import PATIENCE, Client, Json, node, pod, seen, workload

DEMO = "/api/v1/namespaces/demo/pods"


@pytest.fixture
async def cluster() -> AsyncIterator[DemoCluster]:
    settings = DemoSettings(start_seconds=0, stop_seconds=0)
    async with DemoCluster(fleet=Fleet.demo(), settings=settings) as cluster:
        yield cluster


@pytest.fixture
async def api(cluster: DemoCluster) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        client = Client(cluster, session)
        await settled(client, lambda pods: len(pods) == 23 and all(map(runs, pods)))
        yield client


def runs(found: Json) -> bool:
    return bool(found["status"]["phase"] == "Running")


def on(pods: list[Json], place: str) -> list[str]:
    """What runs on a node, by app."""
    return sorted(
        p["metadata"]["labels"]["app"]
        for p in pods
        if p["spec"].get("nodeName") == place and "deletionTimestamp" not in p["metadata"]
    )


async def settled(api: Client, holds: Callable[[list[Json]], bool]) -> list[Json]:
    """The demo's pods, as soon as something holds for them."""
    async with asyncio.timeout(PATIENCE), api.watch(DEMO) as lines:
        while not holds(pods := seen(api.cluster, "pods", "demo")):
            await lines.next()
        return pods


def ready_replicas(count: int) -> Callable[[Json], bool]:
    return lambda obj: obj["status"].get("readyReplicas") == count


async def test_the_demo_fleet_starts_with_every_temper_on_node_a(api: Client) -> None:
    pods = seen(api.cluster, "pods", "demo")
    expected = ["agent", "calm", "db", "db", "patient", "stoic", "web"]
    assert on(pods, "node-a") == expected
    assert on(pods, "control-plane") == ["agent"]
    await api.until("/apis/apps/v1/namespaces/demo/deployments/web", ready_replicas(6))
    await api.until("/apis/apps/v1/namespaces/demo/statefulsets/db", ready_replicas(2))
    await api.until(
        "/apis/apps/v1/namespaces/demo/daemonsets/agent",
        lambda obj: obj["status"].get("numberReady") == 7,
    )
    await api.until(
        "/apis/policy/v1/namespaces/demo/poddisruptionbudgets/web",
        lambda obj: obj["status"].get("disruptionsAllowed") == 2,
    )


async def test_the_demo_fleet_has_two_gpus_in_use(api: Client) -> None:
    pods = {p["metadata"]["name"]: p for p in seen(api.cluster, "pods", "demo")}
    claims = {c["metadata"]["name"]: c for c in seen(api.cluster, "resourceclaims", "demo")}
    assert on(list(pods.values()), "gpu-1") == ["agent", "patient-trainer", "trainer"]
    (found,) = seen(api.cluster, "resourceslices")
    devices = {device["name"] for device in found["spec"]["devices"]}
    used = set()
    for name in ("trainer", "patient-trainer"):
        status = claims[name]["status"]
        (user,) = status["reservedFor"]
        assert user["uid"] == pods[name]["metadata"]["uid"]
        (result,) = status["allocation"]["devices"]["results"]
        assert result["pool"] == found["spec"]["pool"]["name"]
        used.add(result["device"])
    assert used == devices


async def test_an_eviction_for_pressure_frees_the_memory_of_the_pod(api: Client) -> None:
    """The kubelet ends the pod when its grace is over."""
    summary = "/api/v1/nodes/small-1/proxy/stats/summary"
    told = {"metadata": {"annotations": {"demo.bailiff.dev/memory": "2Gi"}}}
    uid = (await api.patch(f"{DEMO}/report", told))["metadata"]["uid"]
    before = (await api.get(summary))["node"]["memory"]["availableBytes"]
    async with asyncio.timeout(PATIENCE), api.watch(DEMO) as lines:
        options = {"gracePeriodSeconds": 1, "preconditions": {"uid": uid}}
        await api.delete(f"{DEMO}/report", options)
        while (event := await lines.next())["type"] != "DELETED":
            pass
    assert event["object"]["metadata"]["name"] == "report"
    assert (await api.get(summary))["node"]["memory"]["availableBytes"] == before + 2 * 2**30


async def test_a_claim_is_free_when_its_last_user_has_gone(api: Client) -> None:
    path = "/apis/resource.k8s.io/v1/namespaces/demo/resourceclaims/trainer"
    own = (await api.get(path))["status"]["reservedFor"]
    others = [
        {"resource": "pods", "name": "patient", "uid": "of an older patient"},
        {"apiGroup": "example.com", "resource": "games", "name": "g", "uid": "2"},
    ]
    patch = {"status": {"reservedFor": own + others}}
    await api.patch(f"{path}/status", patch)
    found = await api.until(path, lambda obj: len(obj["status"].get("reservedFor", [])) == 2)
    assert found["status"]["reservedFor"] == [own[0], others[1]]
    await api.patch(f"{path}/status", {"status": {"reservedFor": own}})
    await api.delete(f"{DEMO}/trainer")
    await api.until(path, lambda obj: not obj.get("status"))
    waiting = (await api.get(path.replace("trainer", "patient-trainer")))["status"]
    assert waiting["reservedFor"]


async def test_deleted_pods_come_back_where_they_are_tolerated(api: Client) -> None:
    before = {p["metadata"]["name"]: p for p in seen(api.cluster, "pods", "demo")}
    taints = [{"key": "maintenance", "value": "true", "effect": "NoExecute"}]
    await api.patch("/api/v1/nodes/node-a", {"spec": {"taints": taints}})
    for name, found in before.items():
        if found["spec"]["nodeName"] == "node-a" and found["metadata"]["labels"]["app"] in (
            "web",
            "db",
        ):
            await api.delete(f"{DEMO}/{name}")
    pods = await settled(
        api,
        lambda pods: (
            len(pods) == 23
            and all(map(runs, pods))
            and on(pods, "node-a") == ["agent", "calm", "patient", "stoic"]
        ),
    )
    after = {p["metadata"]["name"]: p for p in pods}
    # A StatefulSet's pod keeps its name, not its UID.
    assert after["db-0"]["metadata"]["uid"] != before["db-0"]["metadata"]["uid"]
    assert after["db-0"]["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"


async def test_what_fits_nowhere_waits_until_it_does(api: Client) -> None:
    body = pod("choosy", nodeSelector={"disk": "fast"})
    path = "/api/v1/namespaces/default/pods"
    await api.post(path, body)
    waiting = await api.until(f"{path}/choosy", lambda p: bool(p["status"].get("conditions")))
    assert waiting["status"]["conditions"][0]["reason"] == "Unschedulable"
    await api.patch("/api/v1/nodes/node-b", {"metadata": {"labels": {"disk": "fast"}}})
    bound = await api.until(f"{path}/choosy", runs)
    assert bound["spec"]["nodeName"] == "node-b"


async def test_a_cordoned_node_gets_daemons_only(api: Client) -> None:
    await api.patch("/api/v1/nodes/node-b", {"spec": {"unschedulable": True}})
    for found in seen(api.cluster, "pods", "demo"):
        if found["spec"]["nodeName"] == "node-b":
            await api.delete(f"{DEMO}/{found['metadata']['name']}")
    await settled(
        api,
        lambda pods: len(pods) == 23 and all(map(runs, pods)) and on(pods, "node-b") == ["agent"],
    )


async def test_a_new_node_becomes_ready_and_gets_its_daemon(api: Client) -> None:
    await api.post("/api/v1/nodes", node("node-e"))
    ready = await api.until("/api/v1/nodes/node-e", lambda n: "conditions" in n["status"])
    assert "taints" not in ready["spec"]
    await settled(api, lambda pods: on(pods, "node-e") == ["agent"])


async def test_pods_of_a_node_that_is_gone_are_collected(api: Client) -> None:
    await api.delete("/api/v1/nodes/node-c")
    await settled(
        api,
        lambda pods: (
            len(pods) == 22
            and all(map(runs, pods))
            and all(p["spec"]["nodeName"] != "node-c" for p in pods)
        ),
    )


async def test_scaling_down_and_up(api: Client) -> None:
    path = "/apis/apps/v1/namespaces/demo"
    await api.patch(f"{path}/statefulsets/db/scale", {"spec": {"replicas": 1}})
    await api.patch(f"{path}/deployments/web/scale", {"spec": {"replicas": 8}})

    def holds(pods: list[Json]) -> bool:
        apps = [p["metadata"]["labels"]["app"] for p in pods]
        return apps.count("db") == 1 and apps.count("web") == 8

    pods = await settled(api, holds)
    assert "db-0" in [p["metadata"]["name"] for p in pods]


async def test_deleting_an_owner_deletes_what_it_owns(api: Client) -> None:
    await api.delete("/apis/apps/v1/namespaces/demo/deployments/web")
    await settled(api, lambda pods: len(pods) == 17)


async def test_what_has_another_owner_or_none_any_more_stays(api: Client) -> None:
    maps, owners = "/api/v1/namespaces/default/configmaps", []
    for name in ("one", "two"):
        made = await api.post(maps, {"metadata": {"name": name}})
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name}
        owners.append(owner | {"uid": made["metadata"]["uid"]})
    meta = {"name": "both", "ownerReferences": owners}
    await api.post(maps, {"metadata": meta})
    await api.post(maps, {"metadata": {"name": "freed", "ownerReferences": owners[:1]}})
    await api.patch(f"{maps}/freed", {"metadata": {"ownerReferences": None}})
    await api.post(maps, {"metadata": {"name": "owned", "ownerReferences": owners[:1]}})
    async with api.watch(maps, fieldSelector="metadata.name=owned") as lines, asyncio.timeout(10):
        await api.delete(f"{maps}/one")
        while (await lines.next())["type"] != "DELETED":
            pass
    left = {obj["metadata"]["name"] for obj in seen(api.cluster, "configmaps")}
    assert left == {"both", "freed", "two"}


async def test_a_daemonset_of_one_node_has_one_pod(api: Client) -> None:
    body = workload("lonely")
    body["spec"]["template"]["spec"] |= {"nodeName": "node-b"}
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    await api.post(path, body)
    found = await api.until(f"{path}/lonely", lambda obj: obj["status"].get("numberReady") == 1)
    assert found["status"]["desiredNumberScheduled"] == 1
    assert len(seen(api.cluster, "pods", "default")) == 1


async def test_a_controller_with_a_fault_begins_again(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff_demo.controllers.controller._PAUSE_SECONDS", 0)
    faults = [ValueError("an object that it cannot live with")]
    place = Scheduler._place

    def stumble(*arguments: Any) -> None:
        if faults:
            raise faults.pop()
        place(*arguments)

    monkeypatch.setattr(Scheduler, "_place", stumble)
    await api.post("/api/v1/namespaces/default/pods", pod("late"))
    await api.until("/api/v1/namespaces/default/pods/late", runs)
    assert not faults


async def test_a_namespace_is_emptied_and_goes(api: Client) -> None:
    async with asyncio.timeout(PATIENCE), api.watch("/api/v1/namespaces/demo") as lines:
        await api.delete("/api/v1/namespaces/demo")
        while (await lines.next())["type"] != "DELETED":
            pass
    assert seen(api.cluster, "pods", "demo") == []


async def test_grace_periods_are_kept(api: Client) -> None:
    """The kubelet ends a pod; until then it is there, marked."""
    async with api.watch(DEMO, fieldSelector="metadata.name=patient") as lines:
        assert (await lines.next())["type"] == "ADDED"
        await api.delete(f"{DEMO}/patient")
        seen = [await lines.next() for _ in range(3)]
    graces = [e["object"]["metadata"]["deletionGracePeriodSeconds"] for e in seen]
    assert graces == [30, 0, 0]
    assert seen[-1]["type"] == "DELETED"
