"""An attempt by the Eviction API: one request, and what follows where a budget refuses."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import DisruptionBudgetError
from bailiff.decisions import Finding
from bailiff.decisions.policies import EvictionApi
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.timers.eviction import By
from tests.harness.attempt_scene import BLOCKED, GO, NOT_TOLERATED, STAY, Scene
from tests.harness.clocks import START


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
    came = START + timedelta(seconds=40)
    scene = blocked(None, replace(NOT_TOLERATED, due_since=came))
    scene.eviction.due = 60.0
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
