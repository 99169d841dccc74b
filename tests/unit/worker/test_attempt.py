"""One attempt, step by step: what is sent, in which order, and what it comes to."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from bailiff.cluster import (
    ConflictError,
    DisruptionBudgetError,
    DryRunUnsupportedError,
    ForbiddenError,
    WatchHealth,
)
from bailiff.decisions import Finding, TraceStep, Verdict
from bailiff.decisions.policies import EvictionApi
from bailiff.kinds import Node, Pod, PodCondition
from bailiff.worker.attempt import Attempt
from bailiff.worker.eviction import By, Eviction
from bailiff.worker.outcomes import Outcome
from tests.harness.clocks import START, ManualClock
from tests.harness.kinds import node_of, pod_of

POD = pod_of("web", "n1", uid="1", resource_version="5")
WRITTEN = replace(POD, metadata=replace(POD.metadata, resource_version="6"))
DUE = START + timedelta(seconds=10)
GO = Finding(
    system="node-taints", verdict=Verdict.EVICT_NOW, reason="r", message="go", evict_at=DUE
)
STAY = replace(GO, verdict=Verdict.KEEP, message="stay")
LATER = replace(GO, verdict=Verdict.EVICT_AT, message="later")
LATER_STILL = replace(LATER, evict_at=DUE + timedelta(seconds=1))
# It goes at once, since the taint came.
NOT_TOLERATED = replace(
    GO, evict_at=None, trace=(TraceStep("r", "NotTolerated", "m", added_at=DUE),)
)
OF_DEVICES = replace(GO, system="device-taints")
BLOCKED = DisruptionBudgetError("not now", status=429)


class Scene:
    """The cluster as an attempt sees it, and what it does to it.

    Attributes:
        sent: verbs, and the version that those carry which take a pod.
        answer: what the pod is when its condition is written.
        failures: what a verb comes to instead.
        says: what holds of a version of the pod; GO of those that are not named.
        on_node: what holds by the node that was read.
    """

    def __init__(self, finding: Finding = GO) -> None:
        self.clock = ManualClock(passed=100.0)
        self.sent: list[str] = []
        self.answer = WRITTEN
        self.failures: dict[str, Exception] = {}
        self.says: dict[str, Finding | None] = {}
        self.on_node: Finding | None = GO
        self.nodes: list[Node | None] = []
        self.condition: PodCondition | None = None
        self.attempt = Attempt(cast("Any", self), self.clock, self.finding)
        self.eviction = Eviction(pod=POD, finding=finding, deadline=DUE, due=10.0)

    def finding(self, pod: Pod, node: Node | None) -> Finding | None:
        self.nodes.append(node)
        if node is not None:
            return self.on_node
        return self.says.get(pod.metadata.resource_version, self.eviction.finding)

    async def set_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> Pod:
        assert (pod, now) == (POD, self.clock.now())
        self.condition = condition
        self._send("patch")
        return self.answer

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        assert grace_period_seconds is None
        self._send(f"delete {pod.metadata.resource_version}")

    async def try_delete(self, pod: Pod) -> None:
        self._send(f"try {pod.metadata.resource_version}")

    async def evict(self, pod: Pod) -> None:
        self._send(f"evict {pod.metadata.resource_version}")

    def _send(self, what: str) -> None:
        self.sent.append(what)
        failure = self.failures.get(what.split(maxsplit=1)[0])
        if failure is not None:
            raise failure

    def read_nodes(self, names: list[str]) -> None:
        """The watch of nodes is dead: they are read."""

        async def read(name: str) -> Node:
            names.append(name)
            return node_of(name)

        self.attempt.fresh_nodes.follow(WatchHealth(), read)

    def make(self) -> Outcome:
        return asyncio.run(self._make())

    async def _make(self) -> Outcome:
        return await self.attempt(self.eviction)


def test_the_condition_is_written_and_the_version_that_comes_back_is_deleted():
    scene = Scene()
    assert scene.make() is Outcome.DELETED
    assert scene.sent == ["patch", "delete 6"]
    assert scene.condition is not None
    assert (scene.condition.type, scene.condition.status) == ("DisruptionTarget", "True")
    assert (scene.eviction.by, scene.eviction.marked) == (By.DELETE, True)


@pytest.mark.parametrize(
    ("says", "outcome", "revoked"),
    [
        pytest.param(STAY, Outcome.KEPT, "stay", id="may stay"),
        pytest.param(None, Outcome.KEPT, "its node is not known", id="no node"),
        pytest.param(LATER, Outcome.PUT_OFF, "", id="not yet, by a clock put right"),
        pytest.param(LATER_STILL, Outcome.KEPT, "later", id="its deadline has moved"),
    ],
)
def test_what_speaks_against_it_beforehand_ends_it_with_nothing_sent(says, outcome, revoked):
    scene = Scene()
    scene.says["5"] = says
    assert scene.make() is outcome
    assert (scene.sent, scene.eviction.revoked, scene.eviction.marked) == ([], revoked, False)


def test_one_that_was_revoked_is_not_begun_whatever_is_found():
    scene = Scene()
    scene.eviction.revoked = "the taint has gone"
    assert scene.make() is Outcome.KEPT
    assert (scene.sent, scene.eviction.revoked) == ([], "the taint has gone")
    assert scene.nodes == []


@pytest.mark.parametrize(
    "ended",
    [
        replace(WRITTEN, status=replace(WRITTEN.status, phase="Succeeded")),
        replace(WRITTEN, metadata=replace(WRITTEN.metadata, deletion_timestamp=START)),
    ],
    ids=["finished", "terminating"],
)
def test_a_pod_that_turns_out_to_have_ended_is_not_deleted(ended):
    scene = Scene()
    scene.answer = ended
    scene.says["6"] = STAY
    assert scene.make() is Outcome.ENDED
    assert scene.sent == ["patch"]


@pytest.mark.parametrize(
    ("at_first", "fresh", "outcome"),
    [
        pytest.param(GO, STAY, Outcome.CONFLICT, id="the watch has not told that it may stay"),
        pytest.param(GO, LATER_STILL, Outcome.CONFLICT, id="the watch has not told of its time"),
        pytest.param(GO, LATER, Outcome.PUT_OFF, id="the clock was put right meanwhile"),
    ],
)
def test_the_answer_to_the_condition_is_the_last_word(at_first, fresh, outcome):
    scene = Scene()
    scene.says = {"5": at_first, "6": fresh}
    assert scene.make() is outcome
    assert (scene.sent, scene.eviction.marked, scene.eviction.revoked) == (["patch"], True, "")


def test_a_pod_that_all_know_to_stay_by_now_is_kept():
    scene = Scene()
    written = scene._send

    def meanwhile(what: str) -> None:
        written(what)
        scene.says = {"5": STAY, "6": STAY}

    scene._send = meanwhile  # type: ignore[method-assign]  # the taint goes while it is written
    assert scene.make() is Outcome.KEPT
    assert (scene.sent, scene.eviction.revoked) == (["patch"], "stay")


def test_a_pod_that_changes_after_its_condition_was_written_is_not_deleted():
    scene = Scene()
    scene.failures["delete"] = ConflictError("changed", status=409)
    with pytest.raises(ConflictError):
        scene.make()
    assert scene.sent == ["patch", "delete 6"]


# Where the watch of nodes may be behind.


@pytest.mark.parametrize(
    ("on_node", "outcome", "sent"),
    [
        (GO, Outcome.DELETED, ["patch", "delete 6"]),
        (STAY, Outcome.CONFLICT, []),
        (None, Outcome.CONFLICT, []),
    ],
)
def test_the_node_that_was_read_decides_before_anything_is_sent(on_node, outcome, sent):
    scene, names = Scene(), []
    scene.read_nodes(names)
    scene.on_node = on_node
    assert scene.make() is outcome
    assert (scene.sent, names, scene.eviction.revoked) == (sent, ["n1"], "")


def test_the_last_word_is_by_the_node_that_was_read():
    scene = Scene()
    scene.read_nodes([])
    assert scene.make() is Outcome.DELETED
    assert [node is not None for node in scene.nodes] == [False, True, True]


def test_for_taints_of_devices_no_node_is_read():
    scene, names = Scene(OF_DEVICES), []
    scene.read_nodes(names)
    scene.on_node = STAY
    assert scene.make() is Outcome.DELETED
    assert names == []


# After a denial.


@pytest.mark.parametrize("denied", [0, 1, 5])
def test_what_was_denied_is_asked_for_before_it_is_announced_again(denied):
    scene = Scene()
    for _ in range(denied):
        scene.eviction.count_failure("denied")
    assert scene.make() is Outcome.DELETED
    assert scene.sent == (["try 5"] if denied else []) + ["patch", "delete 6"]


def test_what_is_still_denied_is_not_announced():
    scene = Scene()
    scene.eviction.count_failure("denied")
    scene.failures["try"] = ForbiddenError("no", status=403)
    with pytest.raises(ForbiddenError):
        scene.make()
    assert (scene.sent, scene.eviction.marked) == (["try 5"], False)


def test_where_a_webhook_cannot_be_asked_the_delete_asks_it():
    scene = Scene()
    scene.eviction.count_failure("denied")
    scene.failures["try"] = DryRunUnsupportedError("no dry run", status=400)
    assert scene.make() is Outcome.DELETED
    assert scene.sent == ["try 5", "patch", "delete 6"]


# By the Eviction API.


def test_by_the_eviction_api_it_is_one_request_in_the_version_that_was_seen():
    scene = Scene()
    scene.attempt.eviction_api = EvictionApi()
    assert scene.make() is Outcome.DELETED
    assert (scene.sent, scene.eviction.by) == (["evict 5"], By.EVICTION_API)
    assert not scene.eviction.marked


def blocked(deadline: int | None, finding: Finding = GO) -> Scene:
    """At second 100, a pod that fell due at second 10 and that its budget protects."""
    scene = Scene(finding)
    scene.attempt.eviction_api = EvictionApi(deadline_seconds=deadline)
    scene.failures["evict"] = BLOCKED
    return scene


@pytest.mark.parametrize("deadline", [None, 91, 1000])
def test_before_the_hard_deadline_the_budget_has_its_way(deadline):
    scene = blocked(deadline)
    with pytest.raises(DisruptionBudgetError):
        scene.make()
    assert (scene.sent, scene.eviction.by) == (["evict 5"], By.EVICTION_API)


@pytest.mark.parametrize("deadline", [0, 89, 90])
def test_at_the_hard_deadline_it_is_deleted_with_the_condition_first(deadline):
    scene = blocked(deadline)
    assert scene.make() is Outcome.DELETED
    assert (scene.sent, scene.eviction.by) == (["evict 5", "patch", "delete 6"], By.OVERRIDE)


def test_after_the_hard_deadline_it_is_still_asked_whether_it_may_stay():
    scene = blocked(90)
    scene.says["6"] = STAY
    assert scene.make() is Outcome.CONFLICT
    assert scene.sent == ["evict 5", "patch"]


@pytest.mark.parametrize(
    ("entered", "before", "due"),
    [
        pytest.param(60.0, "", 10.0, id="found late: since its deadline"),
        pytest.param(5.0, "", 5.0, id="known for longer"),
        pytest.param(60.0, "blocked", 60.0, id="looked back before"),
        pytest.param(60.0, "conflict", 10.0, id="failed otherwise before"),
    ],
)
def test_the_first_refusal_looks_back_since_when_it_would_have_been_due(entered, before, due):
    scene = blocked(None, NOT_TOLERATED)
    scene.eviction.due, scene.eviction.outcome = entered, before
    with pytest.raises(DisruptionBudgetError):
        scene.make()
    assert scene.eviction.due == pytest.approx(due)


def test_a_pod_that_came_after_the_taint_is_due_since_it_came():
    scene = blocked(None, NOT_TOLERATED)
    came = START + timedelta(seconds=40)
    bound = replace(POD, metadata=replace(POD.metadata, creation_timestamp=came))
    scene.eviction.pod, scene.eviction.due = bound, 60.0
    with pytest.raises(DisruptionBudgetError):
        scene.make()
    assert scene.eviction.due == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("deadline", "delay", "wait"),
    [
        pytest.param(None, 30.0, 30.0, id="no hard deadline"),
        pytest.param(1000, 30.0, 30.0, id="a hard deadline that is far"),
        pytest.param(105, 30.0, 15.0, id="a hard deadline before the next try"),
        pytest.param(90, 30.0, 0.001, id="a hard deadline this moment"),
        pytest.param(50, 30.0, 0.001, id="a hard deadline in the past"),
    ],
)
def test_the_next_try_of_what_a_budget_protects_is_no_later_than_its_hard_deadline(
    deadline, delay, wait
):
    scene = blocked(deadline)
    assert scene.attempt.until_override(scene.eviction, delay) == pytest.approx(wait)


def test_without_the_eviction_api_there_is_no_hard_deadline_to_wait_for():
    scene = Scene()
    assert scene.attempt.until_override(scene.eviction, 30.0) == 30.0
