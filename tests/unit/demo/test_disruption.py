"""The pretended disruption controller, driven by hand."""

from __future__ import annotations

from typing import Any

import pytest

from bailiff_demo import DemoCluster
from bailiff_demo.controllers import Disruption
from bailiff_demo.store import Change
from tests.unit.demo.api import HandClock, Json, pod, put, seen, workload

LABELS = {"app": "web"}


class Hand:
    """The controller of one cluster, told of everything and then let act."""

    def __init__(self, cluster: DemoCluster) -> None:
        self.cluster = cluster
        self.store = cluster.store
        self._actor = Disruption(cluster.registry)

    def put_pods(self, count: int, ready: int, owner: Json | None = None, **meta: Any) -> None:
        for index in range(count):
            made = pod(f"pod-{index}")
            made["metadata"] |= {"namespace": "default", "labels": LABELS} | meta
            if owner is not None:
                made["metadata"]["ownerReferences"] = [owner]
            state = {"type": "Ready", "status": "True" if index < ready else "False"}
            made["status"] = {"phase": "Running", "conditions": [state]}
            put(self.cluster, "pods", made)

    def put_budget(self, status: Json | None = None, **spec: Any) -> None:
        body: Json = {
            "metadata": {"name": "web", "namespace": "default", "generation": 3},
            "spec": {"selector": {"matchLabels": LABELS}, **spec},
            "status": status or {},
        }
        put(self.cluster, "poddisruptionbudgets", body)

    def act(self) -> float | None:
        """Until there is nothing to do; when to look again."""
        for resource in self._actor.resources:
            for record in self.store.bucket(resource).records():
                self._actor.notice(resource, Change("ADDED", record, None))
        return self._actor.act(0.0)

    @property
    def status(self) -> Json:
        (budget,) = seen(self.cluster, "poddisruptionbudgets")
        found: Json = budget["status"]
        return found


@pytest.fixture
def hand(clock: HandClock) -> Hand:
    return Hand(DemoCluster(clock=clock, lively=False))


def owned_by(
    hand: Hand, resource: str, kind: str, replicas: int, above: Json | None = None
) -> Json:
    """A workload; the reference of its pods to it."""
    body = workload("web", replicas=replicas)
    body["metadata"]["namespace"] = "default"
    if above is not None:
        body["metadata"]["ownerReferences"] = [above]
    made = put(hand.cluster, resource, body)
    reference = {"kind": kind, "name": "web", "uid": made["metadata"]["uid"], "controller": True}
    return {"apiVersion": "apps/v1"} | reference


@pytest.mark.parametrize(
    ("spec", "pods", "ready", "expected", "desired", "allowed"),
    [
        ({"minAvailable": 2}, 4, 4, 4, 2, 2),
        ({"minAvailable": 2}, 4, 1, 4, 2, 0),
        ({"minAvailable": 0}, 4, 4, 4, 0, 4),
        ({"minAvailable": 0}, 0, 0, 0, 0, 0),
        ({}, 4, 4, 4, 0, 4),
        # Of the ten replicas that are wanted, not of the pods that are there.
        ({"minAvailable": "50%"}, 8, 8, 10, 5, 3),
        ({"minAvailable": "41%"}, 8, 8, 10, 5, 3),
        ({"maxUnavailable": 3}, 8, 8, 10, 7, 1),
        ({"maxUnavailable": "30%"}, 10, 10, 10, 7, 3),
        ({"maxUnavailable": 20}, 8, 8, 10, 0, 8),
    ],
)
def test_what_is_counted(
    hand: Hand, spec: Json, pods: int, ready: int, expected: int, desired: int, allowed: int
) -> None:
    hand.put_pods(pods, ready, owned_by(hand, "statefulsets", "StatefulSet", 10))
    hand.put_budget(**spec)
    assert hand.act() is None
    status = hand.status
    assert status["expectedPods"] == expected
    assert status["desiredHealthy"] == desired
    assert status["currentHealthy"] == ready
    assert status["disruptionsAllowed"] == allowed
    assert status["observedGeneration"] == 3
    (said,) = status["conditions"]
    reason = "SufficientPods" if allowed else "InsufficientPods"
    assert (said["type"], said["reason"]) == ("DisruptionAllowed", reason)


def test_a_deployments_replicas_count_not_its_replica_sets(hand: Hand) -> None:
    above = owned_by(hand, "deployments", "Deployment", 6)
    hand.put_pods(4, 4, owned_by(hand, "replicasets", "ReplicaSet", 4, above))
    hand.put_budget(maxUnavailable="50%")
    hand.act()
    assert (hand.status["expectedPods"], hand.status["disruptionsAllowed"]) == (6, 1)


def test_where_nobody_says_how_many_nothing_is_allowed(hand: Hand) -> None:
    owner = {"apiVersion": "example.com/v1", "kind": "Game", "name": "g", "uid": "1"}
    hand.put_pods(4, 4, owner | {"controller": True})
    hand.put_budget(maxUnavailable=1)
    hand.act()
    assert hand.status["disruptionsAllowed"] == 0
    (said,) = hand.status["conditions"]
    assert said["reason"] == "SyncFailed"
    assert said["message"] == 'found no controllers for pod "pod-0"'


def test_a_pod_that_goes_is_not_healthy(hand: Hand) -> None:
    hand.put_pods(2, 2, deletionTimestamp="2026-01-01T00:00:00Z")
    hand.put_budget(minAvailable=1)
    hand.act()
    assert (hand.status["currentHealthy"], hand.status["disruptionsAllowed"]) == (0, 0)


def test_an_evicted_pod_is_awaited_for_two_minutes(hand: Hand, clock: HandClock) -> None:
    hand.put_pods(3, 3)
    evicted = {"pod-0": "2026-01-01T00:00:00Z", "gone": "2026-01-01T00:00:00Z"}
    hand.put_budget({"disruptedPods": evicted}, minAvailable=1)
    assert hand.act() == 120.0
    assert hand.status["disruptedPods"] == {"pod-0": "2026-01-01T00:00:00Z"}
    assert hand.status["disruptionsAllowed"] == 1
    clock.advance(121)
    assert hand.act() is None
    assert "disruptedPods" not in hand.status
    assert hand.status["disruptionsAllowed"] == 2
