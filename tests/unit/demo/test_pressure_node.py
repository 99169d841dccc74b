"""The node whose memory a person can fill: what its kubelet answers, and what that comes to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bailiff.cluster import NODES, connect
from bailiff.cluster.kubelets import (
    KubeletSettings,
    KubeletUnreachableError,
    ViaApiServer,
    connect_kubelets,
)
from bailiff_demo import DemoCluster
from bailiff_demo.controllers.kubelet import ready_node
from bailiff_demo.objects import clone, find_condition
from tests.unit.demo.api import Client, HandClock, node, put, seen
from tests.unit.demo.pressure_node import (
    CONFIGURATION,
    GI,
    MI,
    PODS,
    SMALL,
    SYSTEM,
    THREE,
    annotate,
    asked_summary,
    round_of,
    still_fleet,
    use,
    victims,
)


@pytest.fixture
async def cluster(clock: HandClock) -> AsyncIterator[DemoCluster]:
    async with still_fleet(clock) as cluster:
        yield cluster


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


async def test_pods_of_other_nodes_use_nothing_here(api: Client) -> None:
    calm = next(p for p in seen(api.cluster, "pods") if p["metadata"]["name"] == "calm")
    put(api.cluster, "pods", calm | {"status": {"phase": "Running"}})
    await use(api, "calm", "1Gi")
    assert len((await asked_summary(api)).pods) == len(THREE)


async def test_pods_share_what_is_allocatable(api: Client) -> None:
    body = {"status": {"allocatable": {"memory": "3Gi"}}}
    await api.patch(f"{SMALL}/status", body)
    of_pods = (await asked_summary(api)).node.system_containers[0].memory
    assert of_pods is not None
    assert of_pods.available_bytes == (3 * 1024 - 400 - 600 - 700) * MI


def test_a_node_that_says_so_has_less_allocatable_than_it_has(clock: HandClock) -> None:
    memory = {"capacity": {"memory": "4Gi"}, "allocatable": {"memory": "3Gi"}}
    status = ready_node(node("n") | {"status": memory}, clock.now())["status"]
    assert (status["capacity"]["memory"], status["allocatable"]["memory"]) == ("4Gi", "3Gi")
    status = ready_node(node("n"), clock.now())["status"]
    assert (
        status["capacity"]
        == status["allocatable"]
        == {
            "cpu": "4",
            "memory": "16Gi",
            "pods": "110",
        }
    )


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
    assert f"Container {name} was using 2Gi, request is " in report.victims[0].message
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


async def test_the_client_of_all_kubelets_reads_it_by_the_api_server(
    cluster: DemoCluster, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(cluster.kubeconfig())
    settings = KubeletSettings(via_api_server=ViaApiServer.ALWAYS)
    async with (
        await connect(kubeconfig) as client,
        await connect_kubelets(client, settings) as kubelets,
    ):
        found = await client.get(NODES, "small-1")
        read = await kubelets.summary(found)
        assert (read.via_api_server, len(read.measured.summary.pods)) == (True, len(THREE))
        assert json.loads(await kubelets.configuration(found)).keys() == {"kubeletconfig"}
        with pytest.raises(KubeletUnreachableError, match="error trying to reach service"):
            await kubelets.summary(await client.get(NODES, "node-a"))
