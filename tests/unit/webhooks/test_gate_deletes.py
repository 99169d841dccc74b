"""Deletes of pods: whose the gate holds, and whose never."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bailiff.decisions.policies import Exclusion, Gangs, Policies
from bailiff.webhooks import NeverGatedError
from tests.harness.gating import SHOP, GateScene, allows, ready, said, shop_pod
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

KARPENTER = "system:serviceaccount:karpenter:karpenter"
NAMED = {"name": "a", "namespace": SHOP}
HELD = Policies(exclude=Exclusion(namespaces=(SHOP,)))


def scene(policies: Policies = HELD) -> GateScene:
    return GateScene(policies, users=(KARPENTER,))


async def test_an_account_that_is_named_meets_the_rules() -> None:
    assert said(await scene().delete(user=KARPENTER))[0] == 403


async def test_its_deletes_are_counted() -> None:
    gate = scene(Policies(over_time=budget(1)))
    assert (await gate.delete(user=KARPENTER)).allowed
    assert said(await gate.delete(written("db"), user=KARPENTER))[0] == 429
    assert (await gate.delete(user=KARPENTER, dryRun=True)).allowed
    assert gate.counts.writes == 1


def written(name: str, **spec: Any) -> dict[str, Any]:
    """A pod that is to be deleted, as JSON."""
    return {
        "metadata": {"name": name, "namespace": SHOP, "uid": f"uid-{name}"},
        "spec": {"nodeName": "n1", **spec},
    }


async def test_one_that_is_held_gives_back_no_place_of_an_eviction() -> None:
    policies = Policies(over_time=budget(10))
    gate = GateScene(
        policies, ready(shop_pod("a")), ready(shop_pod("b")), allows(1), users=(KARPENTER,)
    )
    assert (await gate.evict("a")).allowed
    await asyncio.sleep(1)
    gate.counts.put({"b": "rubbish"})
    assert said(await gate.delete(written("a"), user=KARPENTER))[0] == 429
    gate.counts.delete()
    assert "PodDisruptionBudget web (2 of 1 allowed)" in said(await gate.evict("b"))[1]


async def test_a_gang_that_may_be_deleted_may_not_be_evicted_for_that() -> None:
    """Deletes ask no disruption budget."""
    pods = [ready(shop_pod(name, group="g")) for name in "ab"]
    gate = GateScene(Policies(gangs=Gangs()), *pods, allows(1), users=(KARPENTER,))
    gate.groups.whole = ("g",)
    pod = written("a", schedulingGroup={"podGroupName": "g"})
    found = await asyncio.gather(gate.delete(pod, user=KARPENTER), gate.evict("b"))
    assert [one.allowed for one in found] == [True, False]


@pytest.mark.parametrize(
    "how",
    [
        {"user": "ada"},
        {"options": {"gracePeriodSeconds": 0}},
        {"operation": "CREATE"},
        {"pod": {"spec": {}}},
        {"pod": {"status": {"phase": "Failed"}}},
        {"pod": {"metadata": {**NAMED, "deletionTimestamp": "2026-01-01T00:00:00Z"}}},
        {"pod": {"metadata": {**NAMED, "annotations": {"kubernetes.io/config.mirror": "x"}}}},
    ],
)
async def test_what_is_never_held(how: dict[str, Any]) -> None:
    assert (await scene().delete(**{"user": KARPENTER, **how})).allowed


async def test_a_pod_that_ends_at_once_by_itself_is_not_deleted_by_force() -> None:
    # So kube-apiserver tells of every delete of such a pod.
    pod = {"spec": {"nodeName": "n1", "terminationGracePeriodSeconds": 0}}
    options = {"gracePeriodSeconds": 0}
    assert said(await scene().delete(pod, user=KARPENTER, options=options))[0] == 403


async def test_options_may_be_absent() -> None:
    assert said(await scene().delete(user=KARPENTER, options=None))[0] == 403


@pytest.mark.parametrize(
    "user",
    [
        "system:node:n1",
        "system:kube-controller-manager",
        "system:apiserver",
        *(
            f"system:serviceaccount:kube-system:{name}"
            for name in (
                "replicaset-controller",
                "job-controller",
                "daemon-set-controller",
                "statefulset-controller",
                "generic-garbage-collector",
                "pod-garbage-collector",
                "namespace-controller",
                "ttl-after-finished-controller",
            )
        ),
    ],
)
def test_controllers_collectors_and_kubelets_cannot_be_named(user: str) -> None:
    with pytest.raises(NeverGatedError, match=user):
        GateScene(HELD, users=(user,))


async def test_a_delete_of_a_pod_without_namespace_is_an_error_of_whoever_asks() -> None:
    pod = {"metadata": {"name": "web", "uid": "uid-web"}}
    assert said(await scene().delete(pod, user=KARPENTER)) == (
        400,
        "request.oldObject.metadata.namespace: required, and empty",
    )
