"""A worker that does what no kubelet does, on virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.extensions import PressureExtensions
from bailiff.kinds.pod_volumes import EmptyDir, Volume
from tests.harness.worlds.pressure_world import MIB, PressureWorld, mode_with

pytestmark = pytest.mark.looptime(start=0)


def extensions(**fields: Any) -> PressureExtensions:
    return msgspec.convert(fields, PressureExtensions)


def world_with(**fields: Any) -> PressureWorld:
    """Four pods on n1 that use more than they have asked for."""
    world = PressureWorld(mode_with(extensions=extensions(**fields)))
    world.add_node()
    for name in ("a", "b", "c", "d"):
        world.fill(name, 100)
    return world


def fill(world: PressureWorld, mib: int = 930) -> None:
    """All of them use so much: 376 of 4,096 MiB are left, of which 500 have to be."""
    for name in list(world.used):
        world.fill(name, mib)


def sample(world: PressureWorld, name: str, **labels: str) -> float | None:
    return world.registry.get_sample_value(name, labels)


async def test_a_dry_run_is_counted_and_told_and_nobody_goes():
    world = world_with(dryRunHard=["memory.available"])
    async with world.running():
        await asyncio.sleep(15)
        fill(world)
        await asyncio.sleep(60)
        pressed = world.pressure.describe()["pressed"]["count"]
    assert world.evictions() == []
    assert pressed == 0
    # Told once in ten minutes, counted in each of six rounds.
    assert world.events_on("n1") == ["EvictionDryRun"]
    signal = {"eviction_signal": "memory.available"}
    assert sample(world, "bailiff_worker_pressure_dry_runs_total", **signal) == 6
    assert not any("True" in one.values() for one in world.published)


async def test_all_go_in_one_round_that_the_release_target_takes():
    world = world_with(releaseTarget={}, stopAt={"memory.available": "2Gi"})
    async with world.running():
        await asyncio.sleep(15)
        fill(world)
        await asyncio.sleep(6)
        (first, a), (second, b) = world.evictions()
        assert (a, b, second - first) == ("a", "b", 0)
        await asyncio.sleep(100)
    assert len(world.evictions()) == 2


async def test_who_was_chosen_with_a_pod_goes_though_that_one_still_uses_what_it_had():
    world = world_with(releaseTarget={"atMost": 3}, stopAt={"memory.available": "4Gi"})
    world.lingering = True
    async with world.running():
        await asyncio.sleep(15)
        fill(world)
        await asyncio.sleep(6)
    assert [name for _, name in world.evictions()] == ["a", "b", "c"]


async def test_who_is_ending_frees_what_is_missing_and_nobody_else_goes():
    world = world_with(releaseTarget={})
    world.lingering = True
    async with world.running():
        await asyncio.sleep(15)
        fill(world)
        await asyncio.sleep(55)
        # It is counted until it should have been gone for half a minute.
        assert [name for _, name in world.evictions()] == ["a"]


@pytest.mark.parametrize("hours", [-1, 0, 1])
async def test_for_whoever_is_ending_nobody_goes_though_others_rank_first(hours):
    """By the API server's clock, though ours was wrong by so much when it first looked."""
    world = world_with(releaseTarget={})
    world.lingering = world.slow = True
    world.clock.step = timedelta(hours=hours)
    async with world.running():
        await asyncio.sleep(15)
        world.clock.step = timedelta()
        fill(world)
        world.fill("a", 940)
        world.delete_in("b", 28)
        await asyncio.sleep(28)
        assert world.evictions() == []


async def test_between_two_evictions_there_is_the_cool_down():
    world = world_with(coolDown="1m")
    async with world.running():
        await asyncio.sleep(15)
        fill(world, 1500)
        await asyncio.sleep(200)
    times = [at for at, _ in world.evictions()]
    assert len(times) == 2
    assert times[1] - times[0] >= 60


async def test_a_cool_down_holds_though_the_pod_takes_its_time_to_end():
    world = PressureWorld(mode_with(extensions=extensions(coolDown="1h")))
    world.lingering = True
    world.add_node()
    for name in "abc":
        world.fill(name, 1900)
    async with world.running():
        await asyncio.sleep(200)
    assert len(world.evictions()) == 1


async def test_so_there_is_after_one_of_a_pod_that_other_systems_speak_of_too():
    """What is carried out is put together of what all say, here that the pod is ending already."""
    world = world_with(coolDown="1h")
    world.lingering = world.slow = True
    async with world.running():
        await asyncio.sleep(15)
        fill(world, 1500)
        world.delete_in("a", 600)
        await asyncio.sleep(100)
    assert [name for _, name in world.evictions()] == ["a"]


async def test_a_restart_forgets_no_cool_down():
    world = world_with(coolDown="2m")
    async with world.running():
        await asyncio.sleep(15)
        fill(world, 1500)
        await asyncio.sleep(6)
    assert [name for _, name in world.evictions()] == ["a"]
    heir = world.successor(mode=mode_with(extensions=extensions(coolDown="2m")))
    async with heir.running():
        await asyncio.sleep(105)
        assert heir.evictions() == []
        await asyncio.sleep(40)
    assert [name for _, name in heir.evictions()] == ["b"]


async def test_settings_that_a_node_does_not_allow_make_it_unknown():
    world = world_with(subtractHugePages=True)
    async with world.running():
        await asyncio.sleep(15)
        why = world.pressure.describe()["unknown"]["nodes"]["n1"]
        fill(world)
        await asyncio.sleep(30)
    assert world.evictions() == []
    assert "kubeletVersion" in why


def test_what_no_summary_says_is_refused():
    with pytest.raises(ValueError, match="memoryInUse: must be WorkingSet or RSS"):
        mode_with(extensions=extensions(memoryInUse="MemAvailable"))


async def test_a_dry_run_that_would_take_nobody_counts_nothing():
    world = PressureWorld(mode_with(extensions=extensions(dryRunHard=["memory.available"])))
    world.add_node()
    world.fill("vital", 4000, priority=2_000_000_000)
    async with world.running():
        await asyncio.sleep(30)
    signal = {"eviction_signal": "memory.available"}
    assert sample(world, "bailiff_worker_pressure_dry_runs_total", **signal) is None


async def test_a_pod_over_a_limit_of_its_own_begins_no_cool_down():
    world = world_with(coolDown="1h")
    volume = Volume(name="v", empty_dir=EmptyDir(size_limit="1Mi"))
    one = world.pods["d"]
    world.put(replace(one, spec=replace(one.spec, volumes=(volume,))))
    world.on_disk["d"] = 2 * MIB
    async with world.running():
        await asyncio.sleep(15)
        assert [name for _, name in world.evictions()] == ["d"]
        fill(world, 1500)
        await asyncio.sleep(45)
    assert [name for _, name in world.evictions()] == ["d", "a"]
