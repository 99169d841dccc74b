"""The Eviction API: budgets hold, and let go, and have a hard deadline."""

import asyncio
import json
from datetime import timedelta

import msgspec
import pytest

from bailiff.cluster import ServerError, TooManyRequestsError
from bailiff.cluster.status import error_of
from bailiff.decisions.policies import (
    Cause,
    EvictionApi,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from bailiff.worker import Comparison, ShadowActions
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.governed import Governed
from tests.harness.worlds.world import attempts

pytestmark = pytest.mark.looptime(start=0)

BUDGETED = Policies(eviction_api=EvictionApi())
WORDS = "The disruption budget web needs 2 healthy pods and has 2 currently"


def governed(policies=BUDGETED, **others) -> Governed:
    world = Governed(policies, **others)
    world.tainted("n1")
    return world


def counted(world: Governed, by: str) -> float:
    return (
        world.registry.get_sample_value(
            "bailiff_worker_evictions_total", {"by": by, "system": "node-taints"}
        )
        or 0
    )


async def test_one_request_and_no_condition_of_ours():
    world = governed()
    world.pod("web")
    async with world.running():
        await asyncio.sleep(1)
    assert world.requests == ["evict"]
    assert (counted(world, "evictionApi"), counted(world, "delete")) == (1, 0)


async def test_a_budget_blocks_and_lets_go(tmp_path):
    world = governed(audit_log=tmp_path / "audit")
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(100)
        assert attempts(world, "blocked") >= 3
        assert attempts(world, "overloaded") == 0
        assert world.backlog() == {"budget": 1}
        assert world.held("web")["message"] == WORDS
        assert [one["name"] for one in world.queue(cause=Cause.BUDGET)] == ["web"]
        world.budgets.clear()
        await asyncio.sleep(75)
        assert world.order() == ["web"]
    line = json.loads((tmp_path / "audit").read_text())
    assert line["by"] == "evictionApi"
    assert [one["cause"] for one in line["held"]] == ["budget"]
    assert line["held"][0]["seconds"] == pytest.approx(world.deletions()["web"], abs=0.2)


async def test_people_are_told_once_in_a_blocked_period():
    world = governed()
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(300)
        blocked = f"Cannot evict Pod default/web now, trying again: {WORDS}"
        assert world.notes_on("web")[1:] == [blocked]
        # Something else comes in between: a new period.
        world.failures = [ServerError("down", status=500)]
        await asyncio.sleep(150)
        assert world.notes_on("web")[1:] == [blocked, blocked]


async def test_an_overload_is_no_budget():
    world = governed()
    world.pod("web")
    world.failures = [TooManyRequestsError("busy", status=429, retry_after=7.0)]
    async with world.running():
        await asyncio.sleep(20)
    assert world.deletions() == {"web": 7.0}
    assert attempts(world, "overloaded") == 1


async def test_after_the_hard_deadline_it_is_deleted(tmp_path):
    policies = Policies(eviction_api=EvictionApi(deadline_seconds=100))
    world = governed(policies, audit_log=tmp_path / "audit")
    world.pod("web", "n1", tolerating(seconds=50))
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(200)
    # Counted from when it fell due, and on the spot.
    assert world.deletions() == {"web": 150.0}
    assert world.requests[-3:] == ["evict", "patch", "delete"]
    assert counted(world, "override") == 1
    line = json.loads((tmp_path / "audit").read_text())
    assert (line["by"], line["budgetOverridden"]) == ("override", True)


async def test_the_hard_deadline_holds_in_a_line_that_never_ends():
    """Whoever is refused stands behind the others, and new ones come all the time."""
    limits = Limits(total=Limit(per_second=1))
    world = governed(Policies(eviction_api=EvictionApi(deadline_seconds=60), limits=limits))
    world.budgets["web"] = WORDS
    world.pod("web")
    async with world.running():
        for index in range(120):
            world.pod(f"new-{index}")
            await asyncio.sleep(1)
    assert 60 <= world.deletions()["web"] <= 62


NOT_CONFIRMED = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
CAUSE = {"reason": "DisruptionBudget", "message": "too many pending evictions not confirmed"}


@pytest.mark.parametrize("causes", [[], [CAUSE]], ids=["1.36", "1.37"])
async def test_a_budget_that_answers_forbidden_is_a_budget_and_the_hard_deadline_holds(causes):
    world = governed(Policies(eviction_api=EvictionApi(deadline_seconds=100)))
    world.pod("web")
    of_the_budget = {"name": "web", "group": "policy", "kind": "poddisruptionbudget"}
    refusal = {
        "reason": "Forbidden",
        "message": f'poddisruptionbudget.policy "web" is forbidden: {NOT_CONFIRMED}',
        "details": of_the_budget | ({"causes": causes} if causes else {}),
    }
    world.budgets["web"] = error_of("POST eviction", 403, json.dumps(refusal).encode())
    async with world.running():
        await asyncio.sleep(50)
        assert world.backlog() == {"budget": 1}
        assert "not confirmed" in world.held("web")["message"]
        await asyncio.sleep(150)
    assert world.deletions() == {"web": 100.0}
    assert (attempts(world, "denied"), counted(world, "override")) == (0, 1)


async def test_a_hard_deadline_overrides_no_refusal_of_a_webhook():
    world = governed(Policies(eviction_api=EvictionApi(deadline_seconds=100)))
    world.pod("web")
    refusal = {"reason": "Forbidden", "message": "admission webhook says no"}
    world.budgets["web"] = error_of("POST eviction", 403, json.dumps(refusal).encode())
    async with world.running():
        await asyncio.sleep(200)
    assert world.deletions() == {}
    assert attempts(world, "denied") >= 3


async def test_a_hard_deadline_does_not_start_over_with_a_restart():
    world = governed(Policies(eviction_api=EvictionApi(deadline_seconds=100)))
    world.node("n1", no_execute(time_added=START - timedelta(seconds=150)))
    world.pod("web", "n1", tolerating(seconds=90))
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(200)
    # It fell due a minute before this worker came.
    assert world.deletions() == {"web": 40.0}


async def test_a_hard_deadline_overrides_no_pause():
    policies = Policies(eviction_api=EvictionApi(deadline_seconds=100), pause=Pause(namespace="o"))
    world = governed(policies)
    world.worker.set_pause(None)
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(50)
        world.worker.set_pause(PauseNotice())
        await asyncio.sleep(200)
        assert world.deleted == []
        world.worker.set_pause(None)
        await asyncio.sleep(1)
    assert world.deletions() == {"web": 250.0}


async def test_what_is_blocked_and_may_stay_is_cancelled():
    world = governed()
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(20)
        world.node("n1")
        await asyncio.sleep(100)
        assert world.queue() == []
        assert world.backlog() == {}
    assert world.deleted == []
    assert world.notes_on("web")[-1].startswith("Cancelling deletion of Pod default/web")


async def test_an_outdated_version_waits_for_the_watch_and_then_goes_at_once():
    world = governed()
    old = world.pod("web", "n1", tolerating(seconds=2))
    async with world.running():
        await asyncio.sleep(1)
        # The watch has not told of it: asking again and again would use up the budget.
        metadata = msgspec.structs.replace(old.metadata, generation=2)
        world.pods["web"] = fresh = msgspec.structs.replace(old, metadata=metadata)
        await asyncio.sleep(3)
        assert world.requests == ["evict"]
        # An event of the node tells nothing about the pod.
        world.node("n1", no_execute())
        await asyncio.sleep(1)
        assert world.requests == ["evict"]
        world.put(fresh)
        await asyncio.sleep(0.1)
        assert world.deletions() == {"web": 5.0}
    assert attempts(world, "conflict") == 1


async def test_an_outdated_version_is_tried_again_though_the_watch_is_silent():
    world = governed()
    old = world.pod("web", "n1", tolerating(seconds=2))
    async with world.running():
        await asyncio.sleep(1)
        metadata = msgspec.structs.replace(old.metadata, generation=2)
        world.pods["web"] = msgspec.structs.replace(old, metadata=metadata)
        await asyncio.sleep(20)
    assert 3 <= len(world.requests) <= 4


async def test_a_shadow_evicts_on_paper():
    world = governed()
    comparison = Comparison(world.clock)
    world.worker.attempt._actions = ShadowActions(comparison)
    world.pod("web")
    async with world.running():
        await asyncio.sleep(1)
        assert comparison.report()["due"] == 1
    assert world.requests == []


async def test_lateness_counts_what_held_it_back():
    world = governed()
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(100)
        world.budgets.clear()
        await asyncio.sleep(75)
    total = world.registry.get_sample_value("bailiff_worker_lateness_seconds_sum")
    assert total == pytest.approx(world.deleted[0][0], abs=0.01)


@pytest.mark.parametrize(
    ("seconds_ago", "gone_at"), [(3600, 0.0), (60, 40.0), (0, 100.0)], ids=["past", "near", "new"]
)
async def test_a_hard_deadline_counts_from_the_taint_and_not_from_the_start_of_the_worker(
    seconds_ago, gone_at
):
    world = Governed(Policies(eviction_api=EvictionApi(deadline_seconds=100)))
    world.node("n1", no_execute(time_added=START - timedelta(seconds=seconds_ago)))
    world.pod("web")
    world.budgets["web"] = WORDS
    async with world.running():
        await asyncio.sleep(300)
    assert world.deletions() == {"web": gone_at}
