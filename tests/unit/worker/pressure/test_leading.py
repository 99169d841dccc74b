"""Nodes come and go, and so does the lead: nobody goes by what was known before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.cluster.kubelets import KubeletUnreachableError
from bailiff.decisions.policies import Policies
from bailiff.kinds import Annotations
from tests.harness.tallies import budget
from tests.harness.worlds.pressure_world import PressureWorld, configured, mode_with
from tests.harness.worlds.switch import Switch

pytestmark = pytest.mark.looptime(start=0)

SOFT = {
    "evictionHard": {"memory.available": "100Mi"},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m"},
}


def filled(**settings: Any) -> PressureWorld:
    world = PressureWorld(**settings)
    world.add_node()
    world.fill("greedy", 3300)
    return world


async def test_who_does_not_lead_reads_no_kubelet():
    election = Switch()
    election.acts = False
    world = filled(election=election)
    async with world.running():
        await asyncio.sleep(60)
        assert world.kubelet.asked == {}
        election.acts = True
        await asyncio.sleep(20)
        assert world.kubelet.asked["n1"] >= 1


async def test_a_lead_that_comes_back_does_not_go_by_what_it_knew():
    """An hour ago a soft threshold was met; whether it was all the time nobody can say."""
    election = Switch()
    world = filled(election=election, mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(30)
        election.acts = False
        await asyncio.sleep(3600)
        election.acts = True
        await asyncio.sleep(45)
        assert world.evictions() == []
        await asyncio.sleep(45)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_who_leads_again_goes_by_what_the_one_in_between_has_noted():
    """It saw that the threshold was over, and took the note away."""
    election = Switch()
    world = filled(election=election, mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(30)
        election.acts = False
        await asyncio.sleep(5)
        world.forget_note("n1")
        await asyncio.sleep(40)
        election.acts = True
        await asyncio.sleep(50)
        assert world.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_what_a_policy_holds_is_dropped_where_the_node_becomes_unknown():
    mode = mode_with()
    world = PressureWorld(mode=mode, policies=Policies(protection=True))
    world.add_node()
    world.fill("greedy", 3900)
    pod = world.pods["greedy"]
    annotations = Annotations(do_not_evict="2026-01-01T00:01:00Z")
    world.put(replace(pod, metadata=replace(pod.metadata, annotations=annotations)))
    async with world.running():
        await asyncio.sleep(40)
        world.kubelet.broken = "connection refused"
        await asyncio.sleep(120)
    assert world.evictions() == []


async def test_what_each_round_may_say_again_is_told_once_in_ten_minutes():
    world = PressureWorld()
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    async with world.running():
        await asyncio.sleep(550)
        assert world.events_on("n1").count("EvictionThresholdMet") == 1
        await asyncio.sleep(100)
    assert world.events_on("n1").count("EvictionThresholdMet") == 2


async def test_two_breaks_that_follow_each_other_are_one_long_one():
    """The one without a lead, the other without an answer."""
    election = Switch()
    world = filled(election=election, mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(30)
        world.kubelet.broken, election.acts = "connection refused", False
        await asyncio.sleep(120)
        election.acts = True
        await asyncio.sleep(110)
        world.kubelet.broken = ""
        await asyncio.sleep(50)
        assert world.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_a_break_in_which_nothing_could_be_read_begins_the_grace_period_anew():
    world = filled(mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(30)
        world.kubelet.broken = "connection refused"
        await asyncio.sleep(400)
        world.kubelet.broken = ""
        await asyncio.sleep(50)
        assert world.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_a_node_that_is_made_anew_begins_anew():
    world = filled(mode=mode_with(configuration=configured(**SOFT)))
    async with world.running():
        await asyncio.sleep(50)
        world.remove_node("n1")
        await asyncio.sleep(1)
        world.add_node(uid="uid-second")
        await asyncio.sleep(50)
        assert world.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in world.evictions()] == ["greedy"]


async def test_whose_shard_is_lost_keeps_nothing_of_its_nodes():
    """Whoever leads evicts meanwhile, and the shard may come back before the next look."""
    world = filled()
    async with world.running():
        await asyncio.sleep(20)
        assert world.pressure.describe()["nodes"] == 1
        world.pressure.lost()
        assert world.pressure.describe()["nodes"] == 0
        assert world.pressure.following.followed == {}
        assert world.pressure.configured.of("n1") is None


async def test_what_is_told_of_a_node_that_has_just_gone_is_passed_over():
    world = PressureWorld()
    async with world.running():
        world.pressure.read("n1", KubeletUnreachableError("connection refused"))
        assert world.pressure.describe()["nodes"] == 0


async def test_a_calm_node_is_written_to_once_in_five_minutes():
    world = PressureWorld()
    world.add_node()
    world.fill("calm", 100)
    async with world.running():
        await asyncio.sleep(3600)
    assert world.noted == [world.noted[0]]
    assert 12 <= len(world.published) <= 13


@pytest.mark.parametrize("overrides", [False, True])
async def test_so_does_a_budget_over_time_of_which_nothing_can_be_counted(overrides):
    mode = mode_with(hard_overrides_policies=overrides)
    world = PressureWorld(mode=mode, policies=Policies(over_time=budget(1)))
    world.add_node()
    world.fill("greedy", 3900)
    async with world.running():
        await asyncio.sleep(60)
    assert bool(world.evictions()) is overrides


@pytest.mark.parametrize("overrides", [False, True])
async def test_policies_hold_hard_thresholds_too_unless_they_are_set_aside(overrides):
    mode = mode_with(hard_overrides_policies=overrides)
    world = PressureWorld(mode=mode, policies=Policies(protection=True))
    world.add_node()
    world.fill("greedy", 3900)
    pod = world.pods["greedy"]
    annotations = Annotations(do_not_evict="true")
    world.put(replace(pod, metadata=replace(pod.metadata, annotations=annotations)))
    async with world.running():
        await asyncio.sleep(60)
    assert bool(world.evictions()) is overrides


async def test_soft_thresholds_are_held_by_policies_whatever_is_set_aside():
    mode = mode_with(hard_overrides_policies=True, configuration=configured(**SOFT))
    world = PressureWorld(mode=mode, policies=Policies(protection=True))
    world.add_node()
    world.fill("greedy", 3300)
    pod = world.pods["greedy"]
    annotations = Annotations(do_not_evict="true")
    world.put(replace(pod, metadata=replace(pod.metadata, annotations=annotations)))
    async with world.running():
        await asyncio.sleep(200)
    assert world.evictions() == []


async def test_a_configuration_that_no_kubelet_would_start_with_makes_the_node_unknown():
    world = filled()
    world.kubelet.configuration_of = {"evictionHard": {"memory.available": "500Mo"}}
    async with world.running():
        await asyncio.sleep(30)
        (why,) = world.pressure.describe()["unknown"]["nodes"].values()
    assert "configuration" in why
    assert world.evictions() == []


async def test_a_configuration_is_asked_for_once_in_two_minutes():
    world = PressureWorld()
    world.add_node()
    asked = []
    answer = world.kubelet.configuration

    async def count(node: Any) -> bytes:
        asked.append(node)
        return await answer(node)

    world.kubelet.configuration = count  # type: ignore[method-assign]  # to count
    async with world.running():
        await asyncio.sleep(1500)
    assert 12 <= len(asked) <= 13
