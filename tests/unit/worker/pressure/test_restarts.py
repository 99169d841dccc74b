"""What is known of an eviction outlives a worker: nobody goes early, or for old numbers."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from bailiff.cluster import UnreachableError
from bailiff.decisions.pressure.extensions import PressureExtensions
from tests.harness.worlds.pressure_world import PressureWorld, configured, mode_with
from tests.harness.worlds.switch import Switch

pytestmark = pytest.mark.looptime(start=0)

SOFT = {
    "evictionHard": {"memory.available": "100Mi"},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "5m"},
}


def cooling(time: str) -> PressureExtensions:
    return msgspec.convert({"coolDown": time}, PressureExtensions)


def calm_world(**settings: Any) -> PressureWorld:
    """Two pods that would go next; whoever is evicted uses its memory on."""
    world = PressureWorld(**settings)
    world.lingering = True
    world.add_node()
    world.fill("calm", 300)
    world.fill("calmer", 300)
    return world


def full_world(*, names: str = "abcd", **settings: Any) -> PressureWorld:
    """A node that stays full whoever goes, measured last in its fifth second."""
    world = PressureWorld(**settings)
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    for name in names:
        world.fill(name, 10)
    world.kubelet.frozen_at = 5
    return world


def names(world: PressureWorld) -> list[str]:
    return [name for _, name in world.evictions()]


async def fill_and_evict(world: PressureWorld) -> None:
    """Until greedy has gone, and still uses what it had."""
    await asyncio.sleep(15)
    world.ending.add("greedy")
    world.fill("greedy", 3300)
    await asyncio.sleep(5)
    assert names(world) == ["greedy"]


async def test_a_restart_waits_for_whoever_was_evicted_before_it():
    world = calm_world()
    async with world.running():
        await fill_and_evict(world)
    heir = world.successor()
    heir.ending, heir.lingering = world.ending, True
    async with heir.running():
        await asyncio.sleep(28)
        assert heir.evictions() == []
        await asyncio.sleep(12)
    # Half a minute is enough, as without a restart.
    assert names(heir) == ["calm"]


async def test_so_does_who_did_not_lead_for_a_moment():
    election = Switch()
    world = calm_world(election=election)
    async with world.running():
        await fill_and_evict(world)
        election.acts = False
        await asyncio.sleep(2)
        election.acts = True
        await asyncio.sleep(25)
    assert names(world) == ["greedy"]


async def test_so_it_is_after_an_eviction_by_the_nodes_own_kubelet():
    world = calm_world()
    async with world.running():
        await asyncio.sleep(15)
        world.fill("greedy", 3300)
        world.kubelet_evicts("greedy")
        await asyncio.sleep(1)
    heir = world.successor()
    heir.ending = world.ending
    async with heir.running():
        await asyncio.sleep(28)
    assert (world.evictions(), heir.evictions()) == ([], [])


async def test_by_one_measurement_one_pod_goes_though_the_worker_is_started_anew():
    world = full_world()
    async with world.running():
        await asyncio.sleep(40)
    assert len(world.evictions()) == 1
    heir = world.successor()
    heir.kubelet.frozen_at = 5
    async with heir.running():
        await asyncio.sleep(30)
    assert heir.evictions() == []


async def test_nor_does_another_go_by_it_when_the_lead_comes_back():
    election = Switch()
    world = full_world(election=election)
    async with world.running():
        for _ in range(2):
            await asyncio.sleep(30)
            election.acts = False
            await asyncio.sleep(2)
            election.acts = True
        await asyncio.sleep(30)
    assert len(world.evictions()) == 1


async def test_a_clock_that_was_set_ends_no_grace_period_when_the_worker_is_started_anew():
    mode = mode_with(configuration=configured(**SOFT))
    world = PressureWorld(mode=mode)
    world.add_node()
    world.fill("greedy", 3300)
    async with world.running():
        await asyncio.sleep(60)
        world.clock.step = timedelta(seconds=100)
        await asyncio.sleep(20)
    heir = world.successor(mode=mode)
    heir.clock.step = timedelta(seconds=100)
    async with heir.running():
        # It has been met since the first seconds: 80 are over, 220 are left.
        await asyncio.sleep(215)
        assert heir.evictions() == []
        await asyncio.sleep(40)
    assert names(heir) == ["greedy"]


async def test_nor_a_cool_down():
    mode = mode_with(extensions=cooling("1h"))
    world = PressureWorld(mode=mode)
    world.add_node()
    for name in "ab":
        world.fill(name, 1900)
    async with world.running():
        await asyncio.sleep(60)
        world.fill("b", 3900)
        world.clock.step = timedelta(hours=1)
        await asyncio.sleep(60)
    assert names(world) == ["a"]
    heir = world.successor(mode=mode)
    heir.clock.step = timedelta(hours=1)
    async with heir.running():
        await asyncio.sleep(600)
    assert heir.evictions() == []


async def test_an_eviction_whose_answer_was_lost_begins_a_cool_down():
    world = PressureWorld(mode_with(extensions=cooling("1h")))
    world.add_node()
    for name in "abc":
        world.fill(name, 1900)
    answer = world.verbs["delete"]
    lost: list[Any] = []

    async def lose_the_first(call: Any) -> object:
        said = await answer(call)
        if not lost:
            lost.append(call)
            raise UnreachableError("connection reset")
        return said

    world.verbs["delete"] = lose_the_first
    async with world.running():
        await asyncio.sleep(60)
    assert len(world.evictions()) == 1


async def test_conditions_that_nobody_writes_any_more_are_taken_over():
    """A worker has written them, and its note is gone."""
    world = full_world()
    async with world.running():
        await asyncio.sleep(30)
        assert world.published[-1]["MemoryPressure"] == "True"
    world.forget_note("n1")
    heir = world.successor()
    heir.used["vital"] = 10
    async with heir.running():
        await asyncio.sleep(1700)
        assert heir.published == []
        await asyncio.sleep(200)
    assert heir.published[-1]["MemoryPressure"] == "False"


async def test_a_clock_that_was_put_back_keeps_no_sign_of_life_back():
    world = PressureWorld()
    world.add_node()
    world.fill("calm", 100)
    async with world.running():
        await asyncio.sleep(100)
        world.clock.step = timedelta(hours=-1)
        await asyncio.sleep(3000)
    assert 10 <= len(world.published) <= 12
