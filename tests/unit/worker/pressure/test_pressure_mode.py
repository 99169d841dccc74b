"""A worker that watches nodes, on virtual time: who goes, when, and what is written."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.harness.worlds.pressure_world import PressureWorld, configured, mode_with

pytestmark = pytest.mark.looptime(start=0)

SOFT = {
    "evictionHard": {"memory.available": "100Mi"},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m"},
}


def world_with(**settings: Any) -> PressureWorld:
    """Three pods on n1; `greedy` is the one to go first, `vital` is never to go."""
    world = PressureWorld(**settings)
    world.add_node()
    world.fill("calm", 200)
    world.fill("greedy", 300)
    world.fill("vital", 400, priority=2_000_000_000)
    return world


async def test_a_calm_node_is_read_every_ten_seconds_and_nobody_goes():
    world = world_with()
    async with world.running():
        await asyncio.sleep(100)
    assert world.kubelet.asked == {"n1": 10}
    assert world.evictions() == []


async def test_the_first_by_rank_goes_in_the_kubelets_words():
    world = world_with()
    async with world.running():
        await asyncio.sleep(20)
        world.fill("greedy", 3400)
        await asyncio.sleep(11)
        assert [name for _, name in world.evictions()] == ["greedy"]
        await asyncio.sleep(100)
    assert [name for _, name in world.evictions()] == ["greedy"]
    status = next(c for c in world.calls if c.verb == "patch" and c.conditions)
    assert status.conditions[0]["reason"] == "TerminationByKubelet"
    deletion = next(c for c in world.calls if c.verb == "delete")
    assert deletion.body["gracePeriodSeconds"] == 1
    assert world.events_on("greedy") == ["Evicted"]
    assert "EvictionThresholdMet" in world.events_on("n1")
    assert "NodeHasInsufficientMemory" in world.events_on("n1")


async def test_critical_pods_survive_and_the_next_goes_by_a_newer_measurement():
    world = world_with()
    async with world.running():
        await asyncio.sleep(15)
        world.fill("vital", 3900, priority=2_000_000_000)
        await asyncio.sleep(60)
    gone = world.evictions()
    assert [name for _, name in gone] == ["greedy", "calm"]
    assert gone[1][0] - gone[0][0] >= 10


async def test_nobody_goes_while_an_evicted_pod_still_uses_what_it_had():
    world = world_with()
    world.lingering = True
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3400)
        await asyncio.sleep(38)
    # It is terminating, and counts for half a minute; then it is ranked as it is.
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_by_one_measurement_one_pod_goes():
    world = world_with()
    async with world.running():
        await asyncio.sleep(15)
        world.fill("vital", 3900, priority=2_000_000_000)
        world.kubelet.frozen_at = world.clock.elapsed()
        await asyncio.sleep(100)
        assert [name for _, name in world.evictions()] == ["greedy"]
        world.kubelet.frozen_at = None
        await asyncio.sleep(20)
    assert [name for _, name in world.evictions()] == ["greedy", "calm"]


async def test_what_was_measured_long_ago_makes_the_node_unknown():
    world = world_with()
    world.kubelet.frozen_at = 0
    async with world.running():
        await asyncio.sleep(200)
        world.fill("greedy", 3400)
        await asyncio.sleep(100)
        told = world.pressure.describe()["unknown"]
    assert world.evictions() == []
    assert told["count"] == 1
    assert world.events_on("n1").count("PressureUnknown") == 1


async def test_a_kubelet_that_does_not_answer_makes_its_node_unknown_and_nobody_goes():
    world = world_with()
    async with world.running():
        await asyncio.sleep(15)
        world.kubelet.broken = "connection refused"
        world.fill("greedy", 3400)
        await asyncio.sleep(60)
        assert world.evictions() == []
        assert "connection refused" in world.pressure.describe()["unknown"]["nodes"]["n1"]
        labels = {"state": "unknown"}
        assert world.registry.get_sample_value("bailiff_worker_pressure_nodes", labels) == 1
        world.kubelet.broken = ""
        await asyncio.sleep(20)
    assert [name for _, name in world.evictions()] == ["greedy"]
    assert world.events_on("n1").count("PressureUnknown") == 1


async def test_soft_thresholds_wait_their_grace():
    world = world_with(mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3000)
        await asyncio.sleep(55)
        assert world.evictions() == []
        await asyncio.sleep(30)
    ((at, name),) = world.evictions()
    assert name == "greedy"
    assert 75 <= at <= 90


async def test_a_soft_threshold_that_is_over_in_between_begins_anew():
    world = world_with(mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3000)
        await asyncio.sleep(40)
        world.fill("greedy", 100)
        await asyncio.sleep(20)
        world.fill("greedy", 3000)
        await asyncio.sleep(55)
        assert world.evictions() == []


@pytest.mark.parametrize("hours", [-5, 5])
async def test_a_clock_that_is_stepped_moves_no_grace_period(hours):
    world = world_with(mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3000)
        await asyncio.sleep(20)
        world.clock.step = timedelta(hours=hours)
        await asyncio.sleep(30)
        assert world.evictions() == []
        await asyncio.sleep(30)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_a_restart_in_the_middle_of_a_grace_period_loses_none_of_it():
    mode = mode_with(configuration=configured(**SOFT))
    world = world_with(mode=mode)
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3000)
        await asyncio.sleep(40)
    assert world.noted
    heir = world.successor(mode=mode)
    async with heir.running():
        await asyncio.sleep(40)
    ((at, name),) = heir.evictions()
    assert name == "greedy"
    assert 75 <= at <= 92


async def test_a_grace_period_begins_anew_where_nobody_looked_for_long():
    mode = mode_with(configuration=configured(**SOFT))
    world = world_with(mode=mode)
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3000)
        await asyncio.sleep(40)
    await asyncio.sleep(600)
    heir = world.successor(mode=mode)
    async with heir.running():
        await asyncio.sleep(50)
        assert heir.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in heir.evictions()] == ["greedy"]


async def test_conditions_hold_for_the_transition_period_and_are_written_when_they_change():
    world = world_with()
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3400)
        await asyncio.sleep(280)
        assert world.published[0]["MemoryPressure"] == "False"
        assert [one["MemoryPressure"] for one in world.published[1:]] == ["True"]
        await asyncio.sleep(60)
    assert world.published[-1]["MemoryPressure"] == "False"


async def test_where_a_kubelet_publishes_conditions_nobody_else_does():
    world = world_with()
    world.add_node(conditions=[{"type": "MemoryPressure", "status": "False"}])
    async with world.running():
        await asyncio.sleep(30)
    assert world.published == []


async def test_nodes_that_are_not_selected_are_not_read():
    world = world_with()
    world.add_node("n2", pool="reserved")
    world.fill("other", 4000, node="n2")
    async with world.running():
        await asyncio.sleep(40)
    assert list(world.kubelet.asked) == ["n1"]
    assert world.evictions() == []


async def test_an_eviction_by_the_nodes_kubelet_is_that_of_the_round():
    """By what it has measured before the pod is gone, a second one would go."""
    world = world_with()
    async with world.running():
        await asyncio.sleep(15)
        world.fill("vital", 3900, priority=2_000_000_000)
        world.kubelet_evicts("greedy")
        await asyncio.sleep(25)
        assert world.evictions() == []
        world.ending.clear()
        await asyncio.sleep(20)
    assert [name for _, name in world.evictions()] == ["calm"]


async def test_with_the_status_alone_nothing_is_deleted():
    world = world_with(mode=mode_with(keeps_pods=True))
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3400)
        await asyncio.sleep(60)
    assert world.evictions() == []
    assert world.pods["greedy"].status.phase == "Failed"
    assert world.pods["greedy"].status.reason == "Evicted"
    labels = {"eviction_signal": "memory.available"}
    assert world.registry.get_sample_value("kubelet_evictions_total", labels) == 1
