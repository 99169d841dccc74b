"""What runs, waits and is slowed down while the facts and the policies change under it."""

import asyncio

import pytest

from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Policies,
)
from tests.harness.kinds import no_execute
from tests.harness.worlds.governed import NOT_READY, Governed

pytestmark = pytest.mark.looptime(start=0)

PER_NODE = Policies(limits=Limits(per_node=Limit(concurrency=5)))
BREAKER = Breaker(slow_at=0.3, slow_per_second=0.1, stop_at=0.6, min_nodes=3, min_failing=2)


async def test_one_that_runs_while_the_last_policy_goes_is_finished():
    world = Governed(PER_NODE)
    world.latency = 5.0
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_policies(NO_POLICIES)
        await asyncio.sleep(20)
        world.pod("next")
        await asyncio.sleep(20)
    assert world.order() == ["web", "next"]


@pytest.mark.parametrize("after", [NO_POLICIES, PER_NODE], ids=["none", "others"])
async def test_a_breaker_that_slows_a_zone_down_may_be_taken_away(after):
    world = Governed(Policies(breakers=Breakers(zone=BREAKER)))
    for number in range(10):
        taints = (NOT_READY,) if number < 4 else ()
        world.node(f"eu/n{number}", no_execute(), *taints)
        world.pod(f"pod-{number}", f"eu/n{number}")
    async with world.running():
        await asyncio.sleep(15)
        assert len(world.deleted) == 2
        world.worker.set_policies(after)
        await asyncio.sleep(1)
    assert len(world.deleted) == 10


async def test_a_turn_that_a_rule_refuses_goes_to_the_next_whom_the_same_limit_concerns():
    # Both namespaces wait for the zone, and the one whose turn comes may no longer be evicted.
    never = LabelSelector(match_labels={"evict": "never"})
    limits = Limits(per_zone=Limit(per_second=0.1), per_namespace=Limit(concurrency=9))
    world = Governed(Policies(exclude=Exclusion(namespace_selector=never), limits=limits))
    world.worker.set_namespaces({"a": {}, "b": {}})
    world.tainted("eu/n1")
    for name in ("a/first", "a/second", "b/third", "b/fourth"):
        world.pod(name, "eu/n1")
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == ["a/first"]
        world.worker.set_namespaces({"a": {"evict": "never"}, "b": {}})
        # Long before the periodic look at everything.
        await asyncio.sleep(25)
        assert world.backlog() == {"excluded": 1}
    assert world.deletions() == {"a/first": 0.0, "b/third": 10.0, "b/fourth": 20.0}


async def test_a_blast_radius_that_comes_counts_those_that_are_evicted_and_not_gone():
    world = Governed(NO_POLICIES)
    world.deaf = True
    world.tainted("n1")
    for number in range(5):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.deleted) == 5
        world.worker.set_policies(Policies(blast_radius=BlastRadius(max_pods=5)))
        world.tainted("n2")
        world.pod("late", "n2")
        await asyncio.sleep(10)
        assert world.held("late")["message"].startswith("maintenance:NoExecute evicts 6")


async def test_what_has_ended_lets_the_next_begin_at_once():
    world = Governed(Policies(limits=Limits(per_node=Limit(concurrency=1))))
    world.latency = 0.3
    world.tainted("n1")
    world.pod("first")
    world.pod("second")
    async with world.running():
        await asyncio.sleep(5)
    # Two requests each.
    assert [at for at, _ in world.begun] == pytest.approx([0.0, 0.6])


async def test_a_taint_whose_pods_another_evicts_by_now_no_longer_evicts_too_many():
    world = Governed(Policies(blast_radius=BlastRadius(max_pods=5)))
    world.tainted("n1", "n2")
    for number in range(6):
        world.pod(f"pod-{number}", f"n{number % 2 + 1}")
    async with world.running():
        await asyncio.sleep(10)
        assert world.deleted == []
        world.node("n2", no_execute("other"))
        await asyncio.sleep(1)
    assert len(world.deleted) == 6


async def test_a_blast_radius_that_comes_lets_nobody_begin_before_all_nodes_are_looked_at():
    world = Governed(Policies(limits=Limits(total=Limit(concurrency=1))))
    world.latency = 1000.0
    world.tainted("n1", "n2")
    for number in range(6):
        world.pod(f"pod-{number}", f"n{number % 2 + 1}")
    async with world.running():
        await asyncio.sleep(1)
        world.worker.gate.set_policies(Policies(blast_radius=BlastRadius(max_pods=5)))
        await asyncio.sleep(1)
        assert world.backlog() == {"blast_radius": 5}
