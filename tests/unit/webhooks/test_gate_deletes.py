"""Deletes of pods: whose the gate holds, and whose never."""

from __future__ import annotations

from typing import Any

import pytest

from bailiff.decisions.policies import Exclusion, Policies
from bailiff.webhooks import NeverGatedError
from tests.harness.gating import SHOP, GateScene, said
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

KARPENTER = "system:serviceaccount:karpenter:karpenter"
HELD = Policies(exclude=Exclusion(namespaces=(SHOP,)))


def scene(policies: Policies = HELD) -> GateScene:
    return GateScene(policies, users=(KARPENTER,))


async def test_an_account_that_is_named_meets_the_rules() -> None:
    assert said(await scene().delete(user=KARPENTER))[0] == 403


async def test_its_deletes_are_counted() -> None:
    gate = scene(Policies(over_time=budget(1)))
    assert (await gate.delete(user=KARPENTER)).allowed
    other = {"metadata": {"name": "db", "namespace": SHOP, "uid": "uid-db"}}
    assert said(await gate.delete(other, user=KARPENTER))[0] == 429
    assert (await gate.delete(user=KARPENTER, dryRun=True)).allowed
    assert gate.counts.writes == 1


@pytest.mark.parametrize(
    "how",
    [
        {"user": "ada"},
        {"options": {"gracePeriodSeconds": 0}},
        {"operation": "CREATE"},
        {"pod": {"spec": {}}},
        {"pod": {"status": {"phase": "Failed"}}},
        {"pod": {"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}}},
        {"pod": {"metadata": {"name": "a", "annotations": {"kubernetes.io/config.mirror": "x"}}}},
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
