"""Evictions through the API, and the PodDisruptionBudgets that allow or forbid them.

No disruption controller runs on either server: the tests write the status of budgets themselves.
"""

from __future__ import annotations

import json

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import Request
from tests.harness.api import PODS, STRANGER, Bench, name_of, uid_of, version_of
from tests.harness.budgets import budget, evict, is_spared, running, status_of
from tests.harness.objects import Object

pytestmark = pytest.mark.parity


async def test_a_pod_without_a_budget_is_marked_and_deleted(bench: Bench) -> None:
    await running(bench)
    assert (await evict(bench))["status"] == "Success"
    going = await bench.get("a")
    assert going["metadata"]["deletionTimestamp"]
    marks = {one["type"]: one for one in going["status"]["conditions"]}
    mark = marks["DisruptionTarget"]
    assert (mark["status"], mark["reason"]) == ("True", "EvictionByEvictionAPI")
    assert mark["message"] == "Eviction API: evicting"


async def test_a_budget_is_spent(bench: Bench) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=2, currentHealthy=3)
    await evict(bench)
    status = await status_of(bench)
    assert status["disruptionsAllowed"] == 1
    assert list(status["disruptedPods"]) == ["a"]
    assert (await bench.get("a"))["metadata"]["deletionTimestamp"]


async def test_the_last_disruption_of_a_budget_is_said_so(bench: Bench) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=1, currentHealthy=2)
    await evict(bench)
    status = await status_of(bench)
    assert status["disruptionsAllowed"] == 0
    (said,) = status["conditions"]
    expected = ("DisruptionAllowed", "False", "InsufficientPods")
    assert (said["type"], said["status"], said["reason"]) == expected


NO = "The disruption budget web does not allow evicting pods currently"
SYNC_FAILED = {
    "type": "DisruptionAllowed",
    "status": "False",
    "reason": "SyncFailed",
    "message": "no controllers",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({}, "The disruption budget web needs 1 healthy pods and has 1 currently"),
        (
            {"currentHealthy": 3},
            NO,
        ),
        (
            {"conditions": [SYNC_FAILED]},
            f"{NO} because it failed sync: no controllers",
        ),
        (
            {"currentHealthy": 3, "conditions": [SYNC_FAILED | {"reason": "Other"}]},
            f"{NO} (Other): no controllers",
        ),
    ],
)
async def test_a_budget_that_allows_nothing(bench: Bench, status: Object, message: str) -> None:
    await running(bench)
    await budget(bench, **status)
    with pytest.raises(k8s.TooManyRequestsError) as caught:
        await evict(bench)
    (cause,) = caught.value.details["causes"]
    assert cause == {"reason": "DisruptionBudget", "message": message}
    assert "violate the pod's disruption budget" in str(caught.value)
    assert await is_spared(bench)


async def test_a_budget_not_counted_yet_says_when_to_come_back(bench: Bench) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=1, observedGeneration=0)
    with pytest.raises(k8s.TooManyRequestsError) as caught:
        await evict(bench)
    assert caught.value.retry_after == 10
    (cause,) = caught.value.details["causes"]
    assert cause["message"] == "The disruption budget web is still being processed by the server."
    assert await is_spared(bench)


async def test_two_budgets_are_a_fault(bench: Bench) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=1)
    await budget(bench, "other", disruptionsAllowed=1)
    with pytest.raises(k8s.StatusError, match="more than one PodDisruptionBudget") as caught:
        await evict(bench)
    assert caught.value.status == 500
    assert await is_spared(bench)
    assert (await status_of(bench))["disruptionsAllowed"] == 1


@pytest.mark.parametrize(
    ("policy", "status", "goes"),
    [
        ("", {}, True),
        ("IfHealthyBudget", {}, True),
        ("IfHealthyBudget", {"currentHealthy": 0}, False),
        ("", {"desiredHealthy": 0, "currentHealthy": 0}, False),
        ("AlwaysAllow", {"currentHealthy": 0}, True),
    ],
)
async def test_a_pod_that_is_not_ready(
    bench: Bench, policy: str, status: Object, *, goes: bool
) -> None:
    await running(bench, ready=False)
    await budget(bench, policy=policy, **status)
    if goes:
        await evict(bench)
        assert (await bench.get("a"))["metadata"]["deletionTimestamp"]
        assert "disruptedPods" not in await status_of(bench)
    else:
        with pytest.raises(k8s.TooManyRequestsError):
            await evict(bench)
        assert await is_spared(bench)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_a_pod_that_does_not_run_needs_no_budget(bench: Bench, phase: str) -> None:
    pod = await running(bench)
    await budget(bench)
    await bench.set_status(pod, phase=phase)
    await evict(bench)
    if phase == "Pending":
        assert (await bench.get("a"))["metadata"]["deletionTimestamp"]
    else:
        with pytest.raises(k8s.NotFoundError):
            await bench.get("a")


async def test_a_pod_that_goes_already_needs_no_budget(bench: Bench) -> None:
    await running(bench)
    await budget(bench)
    await bench.cluster.delete(PODS, "a", bench.namespace)
    assert (await evict(bench))["status"] == "Success"


async def test_a_dry_run_spends_nothing(bench: Bench) -> None:
    pod = await running(bench)
    await budget(bench, disruptionsAllowed=1)
    await evict(bench, dry=True)
    await evict(bench, dryRun=["All"])
    assert (await status_of(bench))["disruptionsAllowed"] == 1
    assert version_of(await bench.get("a")) == version_of(pod)


async def test_a_dry_run_asks_the_budget(bench: Bench) -> None:
    await running(bench)
    await budget(bench)
    with pytest.raises(k8s.TooManyRequestsError):
        await evict(bench, dry=True)


async def test_preconditions_hold(bench: Bench) -> None:
    pod = await running(bench)
    with pytest.raises(k8s.UidMismatchError):
        await evict(bench, preconditions={"uid": STRANGER})
    with pytest.raises(k8s.ConflictError, match="ResourceVersion in the precondition"):
        await evict(bench, preconditions={"uid": uid_of(pod), "resourceVersion": "1"})
    assert await is_spared(bench)
    await evict(bench, preconditions={"uid": uid_of(pod), "resourceVersion": version_of(pod)})
    assert (await bench.get("a"))["metadata"]["deletionTimestamp"]


async def test_a_budget_is_asked_before_preconditions(bench: Bench) -> None:
    await running(bench)
    await budget(bench)
    with pytest.raises(k8s.TooManyRequestsError):
        await evict(bench, preconditions={"uid": STRANGER})


async def test_a_grace_period_of_its_own(bench: Bench) -> None:
    await running(bench)
    await evict(bench, gracePeriodSeconds=7)
    assert (await bench.get("a"))["metadata"]["deletionGracePeriodSeconds"] == 7


async def test_an_eviction_of_nobody_or_of_another(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await evict(bench)
    pod = await running(bench)
    for meta in ({}, {"name": "b"}):
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        path = PODS.path(bench.namespace, name_of(pod), "eviction")
        with pytest.raises(k8s.BadRequestError):
            await bench.cluster.send(Request("POST", path, {}, json.dumps(body).encode()))
