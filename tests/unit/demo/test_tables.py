from __future__ import annotations

import pytest

from bailiff_demo.columns import columns_of, human_duration, pod_status
from bailiff_demo.resources import PODS as PODS_RESOURCE
from tests.unit.demo.api import PODS, TABLE, Client, HandClock, Json, node, pod, workload


def shown(table: Json, *, wide: bool = False) -> list[dict[str, object]]:
    heads = [c["name"] for c in table["columnDefinitions"]]
    seen = [wide or c["priority"] == 0 for c in table["columnDefinitions"]]
    return [
        {h: cell for h, cell, s in zip(heads, row["cells"], seen, strict=True) if s}
        for row in table["rows"]
    ]


async def test_pods(api: Client, clock: HandClock) -> None:
    await api.post(PODS, pod(nodeName="n"))
    clock.advance(125)
    table = await api.get(PODS, accept=TABLE)
    row = {"Name": "a", "Ready": "0/1", "Status": "Pending", "Restarts": "0", "Age": "2m5s"}
    assert shown(table) == [row]
    assert shown(table, wide=True)[0]["Node"] == "n"
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = await api.get(f"{PODS}/a", accept=TABLE, includeObject="Object")
    assert whole["rows"][0]["object"]["kind"] == "Pod"
    none = await api.get(PODS, accept=TABLE, includeObject="None")
    assert "object" not in none["rows"][0]


async def test_nodes(api: Client) -> None:
    labels = {"node-role.kubernetes.io/control-plane": ""}
    body = node(unschedulable=True) | {"metadata": {"name": "n", "labels": labels}}
    await api.post("/api/v1/nodes", body)
    (row,) = shown(await api.get("/api/v1/nodes", accept=TABLE))
    assert (row["Status"], row["Roles"]) == ("Unknown,SchedulingDisabled", "control-plane")
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"conditions": conditions, "nodeInfo": {"kubeletVersion": "v1"}}
    await api.patch("/api/v1/nodes/n/status", {"status": status})
    (row,) = shown(await api.get("/api/v1/nodes", accept=TABLE))
    assert (row["Status"], row["Version"]) == ("Ready,SchedulingDisabled", "v1")


@pytest.mark.parametrize("plural", ["daemonsets", "statefulsets", "deployments", "replicasets"])
async def test_workloads(api: Client, plural: str) -> None:
    path = f"/apis/apps/v1/namespaces/default/{plural}"
    await api.post(path, workload("w"))
    (row,) = shown(await api.get(path, accept=TABLE))
    assert row["Name"] == "w"


async def test_events(api: Client, clock: HandClock) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "reason": "R",
        "type": "Normal",
        "message": "M\n",
    }
    path = "/api/v1/namespaces/default/events"
    await api.post(path, event)
    clock.advance(7)
    (row,) = shown(await api.get(path, accept=TABLE))
    assert row == {
        "Last Seen": "7s",
        "Type": "Normal",
        "Reason": "R",
        "Object": "pod/a",
        "Message": "M",
    }


async def test_every_kind_has_a_table(api: Client) -> None:
    from bailiff_demo.resources import RESOURCES

    for resource in RESOURCES:
        root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
        table = await api.get(f"{root}/{resource.plural}", accept=TABLE)
        assert table["kind"] == "Table"
        assert all(len(r["cells"]) == len(table["columnDefinitions"]) for r in table["rows"])


async def test_watches_of_tables_name_the_columns_once(api: Client) -> None:
    async with api.watch(PODS, accept=TABLE) as lines:
        await api.post(PODS, pod("a"))
        await api.post(PODS, pod("b"))
        first, second = await lines.next(), await lines.next()
    assert first["object"]["columnDefinitions"]
    assert second["object"]["columnDefinitions"] == []
    assert [e["object"]["rows"][0]["cells"][0] for e in (first, second)] == ["a", "b"]


def statuses(*states: Json, ready: bool = True) -> Json:
    return {"containerStatuses": [{"ready": ready, "state": state} for state in states]}


RUNNING: Json = {"running": {}}
ENDED: Json = {"terminated": {"reason": "Completed", "exitCode": 0}}


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({"phase": "Running"}, "Running"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"phase": "Succeeded", **statuses(ENDED)}, "Completed"),
        (
            {"phase": "Running", **statuses({"waiting": {"reason": "CrashLoopBackOff"}})},
            "CrashLoopBackOff",
        ),
        ({"phase": "Failed", **statuses({"terminated": {"exitCode": 3}})}, "Error"),
        ({"phase": "Running", **statuses(RUNNING, RUNNING)}, "Running"),
        (
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
            },
            "SchedulingGated",
        ),
    ],
)
def test_the_word_for_a_pod(status: Json, word: str) -> None:
    assert pod_status({"metadata": {}, "spec": {}, "status": status}) == word


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({"phase": "Running"}, "Terminating"),
        ({"phase": "Failed"}, "Failed"),
    ],
)
def test_the_word_for_a_pod_that_is_going(status: Json, word: str) -> None:
    going = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": status}
    assert pod_status(going) == word


def test_a_status_that_nobody_expects_is_shown_as_invalid() -> None:
    broken = {"metadata": {}, "status": {"containerStatuses": 5, "phase": "Running"}}
    cells = [column.show(broken, HandClock().now()) for column in columns_of(PODS_RESOURCE)]
    assert "<invalid>" in cells


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (599, "9m59s"),
        (600, "10m"),
        (3600 * 3 - 1, "179m"),
        (3600 * 3, "3h"),
        (3600 * 3 + 60, "3h1m"),
        (3600 * 47, "47h"),
        (3600 * 48, "2d"),
        (3600 * 49, "2d1h"),
        (86400 * 8, "8d"),
        (86400 * 729, "729d"),
        (86400 * 731, "2y1d"),
        (86400 * 365 * 8, "8y"),
    ],
)
def test_durations_for_people(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text
