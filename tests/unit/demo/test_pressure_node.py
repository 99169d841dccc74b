"""The node whose memory a person can fill: what its kubelet answers, and what that comes to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.report import PressureReport
from bailiff.kinds import Node, Pod, decode, decode_yaml_value
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import Summary
from bailiff_demo import DemoCluster, DemoSettings, Fleet, FleetError
from bailiff_demo.objects import clone, find_condition
from bailiff_demo.stats import summary_of
from tests.harness.asking import ask
from tests.unit.demo.api import Client, HandClock, Json, node, pod, put, seen

SMALL = "/api/v1/nodes/small-1"
PODS = "/api/v1/namespaces/demo/pods"
MEMORY = "demo.bailiff.dev/memory"
SYSTEM = "demo.bailiff.dev/system-memory"
CONFIGURATION = "demo.bailiff.dev/kubelet-configuration"
MI, GI = 2**20, 2**30
THREE = ("ledger", "report", "search")


@pytest.fixture
async def cluster(clock: HandClock) -> AsyncIterator[DemoCluster]:
    """The demo fleet in which only the three pods run, and nothing happens by itself."""
    cluster = DemoCluster(clock=clock, fleet=Fleet.demo(), lively=False, settings=DemoSettings())
    for one in seen(cluster, "pods", "demo"):
        if one["metadata"]["name"] in THREE:
            put(cluster, "pods", one | {"status": {"phase": "Running"}})
    async with cluster:
        yield cluster


async def asked_summary(api: Client) -> Summary:
    reply = await api.send("GET", f"{SMALL}/proxy/stats/summary")
    assert reply.status == 200, reply.raw
    return decode(reply.raw, Summary)


async def round_of(api: Client) -> PressureReport:
    """What the kubelet's eviction manager would do by all that the API tells."""
    configured = await api.get(f"{SMALL}/proxy/configz")
    facts = PressureFacts(
        summary=await asked_summary(api),
        configuration=decode_yaml_value(configured["kubeletconfig"], KubeletConfiguration),
        kubelet_version="v1.37.1",
    )
    listed = await api.get("/api/v1/pods", fieldSelector="spec.nodeName=small-1")
    pods = tuple(decode_yaml_value(one, Pod) for one in listed["items"])
    found = decode_yaml_value(await api.get(SMALL), Node)
    answer = ask("planPressureRound", node=found, pods=pods, pressure=facts)
    report: PressureReport = answer.report
    return report


async def annotate(api: Client, path: str, **told: str | None) -> Json:
    return await api.patch(path, {"metadata": {"annotations": told}})


async def use(api: Client, name: str, memory: str | None) -> Json:
    return await annotate(api, f"{PODS}/{name}", **{MEMORY: memory})


def victims(report: PressureReport) -> list[str]:
    return [one.pod.name for one in report.victims]


async def test_at_first_there_is_plenty(api: Client) -> None:
    report = await round_of(api)
    assert victims(report) == []
    assert {one.type: one.status for one in report.conditions} == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
    }


async def test_the_summary_adds_up(api: Client, clock: HandClock) -> None:
    summary = await asked_summary(api)
    memory = summary.node.memory
    assert memory is not None
    assert memory.working_set_bytes == (600 + 400 + 600 + 700) * MI
    assert memory.available_bytes == 4 * GI - memory.working_set_bytes
    assert memory.time == clock.now()
    assert (summary.node.node_name, summary.node.system_containers[0].name) == ("small-1", "pods")
    of_pods = summary.node.system_containers[0].memory
    assert of_pods is not None
    assert of_pods.working_set_bytes == (400 + 600 + 700) * MI
    used = {one.pod_ref.name: one.memory and one.memory.working_set_bytes for one in summary.pods}
    assert used == {"ledger": 700 * MI, "report": 400 * MI, "search": 600 * MI}


@pytest.mark.parametrize("name", THREE)
async def test_the_pod_that_fills_the_node_goes_and_its_memory_with_it(
    api: Client, name: str
) -> None:
    """Whichever it is: the others use less than they have asked for."""
    await use(api, name, "2Gi")
    report = await round_of(api)
    assert victims(report) == [name]
    assert report.victims[0].message.startswith(
        "The node was low on resource: memory. Threshold quantity: 500Mi, available: "
    )
    assert [one.type for one in report.conditions if one.status == "True"] == ["MemoryPressure"]
    await api.delete(f"{PODS}/{name}", {"gracePeriodSeconds": 0})
    assert victims(await round_of(api)) == []


async def test_of_two_that_use_too_much_the_lower_priority_goes(api: Client) -> None:
    await use(api, "ledger", "2Gi")
    await use(api, "search", "1100Mi")
    assert victims(await round_of(api)) == ["search"]


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_a_pod_that_does_not_run_uses_nothing(api: Client, phase: str) -> None:
    await use(api, "report", "2Gi")
    await api.patch(f"{PODS}/report/status", {"status": {"phase": phase}})
    summary = await asked_summary(api)
    assert [one.pod_ref.name for one in summary.pods] == ["ledger", "search"]
    assert summary.node.memory is not None
    assert summary.node.memory.working_set_bytes == (600 + 600 + 700) * MI


async def test_a_pod_that_is_being_deleted_uses_its_memory_until_it_is_gone(api: Client) -> None:
    await use(api, "report", "2Gi")
    await api.delete(f"{PODS}/report", {"gracePeriodSeconds": 30})
    assert "report" in [one.pod_ref.name for one in (await asked_summary(api)).pods]


async def test_what_runs_beside_pods_fills_the_node_too(api: Client) -> None:
    await annotate(api, SMALL, **{SYSTEM: "3500Mi"})
    assert len(victims(await round_of(api))) == 1
    await annotate(api, SMALL, **{SYSTEM: None})
    summary = await asked_summary(api)
    assert summary.node.memory is not None
    assert summary.node.memory.working_set_bytes == (400 + 600 + 700) * MI


async def test_a_threshold_of_ones_own_can_be_tried(api: Client) -> None:
    told = {"evictionHard": {"memory.available": "3Gi"}}
    await annotate(api, SMALL, **{CONFIGURATION: json.dumps(told)})
    assert (await api.get(f"{SMALL}/proxy/configz"))["kubeletconfig"] == {
        "enforceNodeAllocatable": ["pods"],
        "evictionHard": {"memory.available": "3Gi"},
        "evictionPressureTransitionPeriod": "5m0s",
        "mergeDefaultEvictionSettings": False,
        "localStorageCapacityIsolation": True,
    }
    assert victims(await round_of(api)) == ["report"]
    await annotate(api, SMALL, **{CONFIGURATION: None})
    configured = (await api.get(f"{SMALL}/proxy/configz"))["kubeletconfig"]
    assert configured["evictionHard"]["memory.available"] == "100Mi"
    assert victims(await round_of(api)) == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (MEMORY, "lots", "must be a quantity such as 100Mi"),
        (MEMORY, "", "must be a quantity such as 100Mi"),
        (MEMORY, "1" * 5000, "must be a quantity such as 100Mi"),
        (MEMORY, "-1Mi", "must not be negative"),
        (SYSTEM, "NaN", "must be a quantity such as 100Mi"),
        (SYSTEM, "-1e999", "must not be negative"),
        (CONFIGURATION, "evictionHard: {}", "must be a JSON object such as"),
        (CONFIGURATION, "[]", "must be a JSON object such as"),
        (CONFIGURATION, "[" * 100_000, "must be a JSON object such as"),
    ],
)
async def test_an_annotation_that_means_nothing_is_refused(
    api: Client, name: str, text: str, why: str
) -> None:
    """On the object and on its status, through which metadata can be written, too."""
    path = f"{PODS}/report" if name == MEMORY else SMALL
    for place in (path, f"{path}/status"):
        body = {"metadata": {"annotations": {name: text}}}
        status = await api.refused("PATCH", place, body, type="application/merge-patch+json")
        assert (status["code"], status["reason"]) == (422, "Invalid")
        assert f"metadata.annotations[{name}]: Invalid value: " in status["message"]
        assert why in status["message"]
    assert victims(await round_of(api)) == []


@pytest.mark.parametrize("huge", ["5Gi", "8Ei", "100000Ei", "1e999"])
async def test_nobody_uses_more_than_there_is(api: Client, huge: str) -> None:
    await use(api, "report", huge)
    await use(api, "search", huge)
    summary = await asked_summary(api)
    assert summary.node.memory is not None
    assert summary.node.memory.available_bytes == 0
    assert summary.node.memory.working_set_bytes == 4 * GI
    used = {one.pod_ref.name: one.memory and one.memory.working_set_bytes for one in summary.pods}
    assert (used["report"], used["search"]) == (4 * GI, 4 * GI)
    assert victims(await round_of(api)) == ["report"]


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"capacity": {}},
        {"capacity": {"memory": "lots"}},
        {"capacity": {"memory": "-4Gi"}},
        {"capacity": {"memory": 7}},
        {"capacity": {"memory": "1e999"}, "allocatable": {"memory": "-1"}},
    ],
)
def test_whatever_is_stored_there_is_a_summary(clock: HandClock, status: Json) -> None:
    """Past all rules, as an older demo may have stored it."""
    told = {SYSTEM: "no quantity", CONFIGURATION: "no JSON"}
    found = node("n") | {"status": status}
    found["metadata"]["annotations"] = told
    odd = pod("odd", volumes=[{"name": "v"}]) | {"status": {"phase": "Running"}}
    odd["metadata"] |= {"uid": "u", "annotations": {MEMORY: "-3Gi"}}
    summary = decode(json.dumps(summary_of(found, [odd], clock.now())).encode(), Summary)
    assert summary.node.memory is not None
    assert summary.node.memory.working_set_bytes == 0
    assert [one.name for one in summary.pods[0].volume] == ["v"]


@pytest.mark.parametrize("capacity", [{"memory": "lots"}, {"memory": True}, {"memory": []}, "4Gi"])
async def test_a_capacity_that_is_no_quantity_is_refused(api: Client, capacity: Any) -> None:
    body = {"status": {"capacity": capacity}}
    status = await api.refused(
        "PATCH", f"{SMALL}/status", body, type="application/merge-patch+json"
    )
    assert status["code"] == 400


def test_a_fleet_with_such_an_annotation_says_so() -> None:
    told = json.dumps({"name": "n", "annotations": {SYSTEM: "lots"}})
    fleet = Fleet.parse(f"{{apiVersion: v1, kind: Node, metadata: {told}}}".encode())
    with pytest.raises(FleetError, match=r"Node n: .*demo\.bailiff\.dev/system-memory"):
        DemoCluster(lively=False, fleet=fleet)


async def test_a_kubelet_that_cannot_be_asked_is_told_as_such(api: Client) -> None:
    for path in ("stats/summary", "configz"):
        status = await api.refused("GET", f"/api/v1/nodes/node-a/proxy/{path}")
        assert (status["code"], status["reason"]) == (503, "ServiceUnavailable")
        assert status["message"].startswith("error trying to reach service: dial tcp 10.10.")
        status = await api.refused("GET", f"/api/v1/nodes/none/proxy/{path}")
        assert (status["code"], status["message"]) == (404, 'nodes "none" not found')


@pytest.mark.parametrize(
    "path", ["", "/", "/stats", "/stats/summary/", "/pods", "/stats%2Fsummary/x"]
)
async def test_a_kubelet_answers_nothing_else(api: Client, path: str) -> None:
    reply = await api.send("GET", SMALL + "/proxy" + path)
    assert (reply.status, reply.raw) == (404, b"404 page not found\n")


def test_no_kubelet_speaks_of_pressure_there(cluster: DemoCluster) -> None:
    nodes = {one["metadata"]["name"]: clone(one) for one in seen(cluster, "nodes")}
    told = {one["type"] for one in nodes["small-1"]["status"]["conditions"]}
    assert told == {"Ready"}
    assert find_condition(nodes["node-a"], "MemoryPressure") is not None
    assert nodes["small-1"]["status"]["capacity"] == {"cpu": "4", "memory": "4Gi", "pods": "110"}
    assert nodes["node-a"]["status"]["allocatable"]["memory"] == "16Gi"


async def test_each_summary_is_of_its_moment(api: Client, clock: HandClock) -> None:
    first = await asked_summary(api)
    clock.advance(10)
    again = await asked_summary(api)
    assert first.node.memory is not None
    assert again.node.memory is not None
    assert first.node.memory.time is not None
    assert again.node.memory.time is not None
    assert (again.node.memory.time - first.node.memory.time).total_seconds() == 10
