from __future__ import annotations

import pytest

from tests.unit.demo.api import PODS, Client, HandClock, Json, node, pod

A = f"{PODS}/a"


async def gone(api: Client, path: str = A) -> bool:
    return (await api.send("GET", path)).status == 404


async def test_a_bound_pod_goes_gracefully(api: Client) -> None:
    await api.post(PODS, pod(nodeName="n"))
    deleted = await api.delete(A)
    assert deleted["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 30
    assert deleted["metadata"]["generation"] == 2
    assert not await gone(api)
    assert await api.delete(A) == deleted
    await api.delete(A, {"gracePeriodSeconds": 0})
    assert await gone(api)


@pytest.mark.parametrize(
    ("spec", "phase"),
    [({}, "Pending"), ({"nodeName": "n"}, "Failed"), ({"nodeName": "n"}, "Succeeded")],
)
async def test_a_pod_that_runs_nowhere_goes_at_once(api: Client, spec: Json, phase: str) -> None:
    await api.post(PODS, pod(**spec))
    await api.patch(f"{A}/status", {"status": {"phase": phase}})
    assert (await api.delete(A))["kind"] == "Pod"
    assert await gone(api)


async def test_grace_can_only_be_shortened(api: Client, clock: HandClock) -> None:
    await api.post(PODS, pod(nodeName="n"))
    await api.delete(A)
    clock.advance(5)
    longer = await api.delete(A, {"gracePeriodSeconds": 60})
    assert longer["metadata"]["deletionGracePeriodSeconds"] == 30
    shorter = await api.delete(A, {"gracePeriodSeconds": 10})
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:10Z"
    # A period that would have passed already ends now, and still gracefully.
    past = await api.delete(A, {"gracePeriodSeconds": 2})
    assert past["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    assert past["metadata"]["deletionGracePeriodSeconds"] == 1
    assert not await gone(api)


async def test_a_negative_grace_is_one_second(api: Client) -> None:
    await api.post(PODS, pod(nodeName="n"))
    deleted = await api.delete(A, {"gracePeriodSeconds": -5})
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 1


async def test_preconditions(api: Client) -> None:
    made = await api.post(PODS, pod())
    status = await api.refused("DELETE", A, {"preconditions": {"uid": "other"}})
    assert (status["code"], status["reason"]) == (409, "Conflict")
    assert status["message"] == (
        'Operation cannot be fulfilled on Pod "a": the UID in the precondition (other) does not '
        f"match the UID in record ({made['metadata']['uid']}). The object might have been deleted "
        "and then recreated"
    )
    status = await api.refused("DELETE", A, {"preconditions": {"resourceVersion": "1"}})
    assert "the ResourceVersion in the precondition (1)" in status["message"]
    meta = made["metadata"]
    await api.delete(A, {"preconditions": {k: meta[k] for k in ("uid", "resourceVersion")}})
    assert await gone(api)


async def test_finalizers_hold_an_object(api: Client) -> None:
    await api.post(PODS, pod() | {"metadata": {"name": "a", "finalizers": ["example.com/x"]}})
    held = await api.delete(A)
    assert held["metadata"]["deletionTimestamp"]
    assert not await gone(api)
    await api.patch(A, {"metadata": {"finalizers": None}})
    assert await gone(api)


async def test_other_kinds_go_at_once_and_answer_a_status(api: Client) -> None:
    made = await api.post("/api/v1/nodes", node())
    status = await api.delete("/api/v1/nodes/n")
    assert (status["kind"], status["status"]) == ("Status", "Success")
    assert status["details"] == {"name": "n", "kind": "nodes", "uid": made["metadata"]["uid"]}


async def test_the_default_namespace_stays(api: Client) -> None:
    assert (await api.refused("DELETE", "/api/v1/namespaces/default"))["code"] == 403
