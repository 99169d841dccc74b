"""What is told of nodes, and what becomes of writes that fail; no eviction waits for either."""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.worlds.pressure_world import PressureWorld

pytestmark = pytest.mark.looptime(start=0)


def writes(world: PressureWorld, what: str, fate: str) -> float:
    labels = {"what": what, "fate": fate}
    name = "bailiff_worker_pressure_writes_total"
    return world.registry.get_sample_value(name, labels) or 0


async def test_one_node_that_cannot_be_read_makes_no_worker_unready_and_all_do():
    world = PressureWorld()
    world.add_node("n1")
    world.add_node("n2")
    async with world.running():
        await asyncio.sleep(20)
        world.kubelet.broken, world.kubelet.breaking = "forbidden", {"n1"}
        await asyncio.sleep(20)
        assert world.pressure.complaints() == []
        world.kubelet.breaking = {"n1", "n2"}
        await asyncio.sleep(20)
        (said,) = world.pressure.complaints()
    assert "unknown of all 2 nodes" in said
    assert "forbidden" in said


async def test_a_node_that_could_never_be_read_is_told_of_too():
    world = PressureWorld()
    world.add_node()
    world.kubelet.broken = "connection refused"
    async with world.running():
        await asyncio.sleep(60)
        assert world.pressure.describe()["unknown"]["count"] == 1
    assert world.events_on("n1") == ["PressureUnknown"]


async def test_before_anything_was_read_nobody_complains():
    world = PressureWorld()
    async with world.running():
        await asyncio.sleep(5)
        assert world.pressure.complaints() == []


@pytest.mark.parametrize("verb", ["publish", "annotate"])
async def test_what_cannot_be_written_is_tried_again_and_holds_up_no_eviction(verb):
    world = PressureWorld()
    world.add_node()
    world.fill("greedy", 3900)
    world.deny(403, verb, until=100)
    async with world.running():
        await asyncio.sleep(50)
        assert [name for _, name in world.evictions()] == ["greedy"]
        what = {"publish": "conditions", "annotate": "annotation"}[verb]
        assert 3 <= writes(world, what, "failed") <= 10
        assert writes(world, what, "written") == 0
        await asyncio.sleep(120)
        assert writes(world, what, "written") >= 1


async def test_an_event_that_is_refused_is_not_tried_again():
    world = PressureWorld()
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    world.deny(403, "record", until=1000)
    async with world.running():
        await asyncio.sleep(300)
    assert writes(world, "event", "failed") == 2
    assert writes(world, "conditions", "written") >= 1


async def test_a_node_that_has_gone_is_written_to_no_more():
    world = PressureWorld()
    world.add_node()
    world.fill("calm", 100)
    async with world.running():
        await asyncio.sleep(20)
        before = len(world.published)
        world.remove_node("n1")
        await asyncio.sleep(900)
        assert len(world.published) == before
        assert world.pressure.describe()["nodes"] == 0


async def test_metrics_and_status_tell_which_nodes_are_pressed():
    world = PressureWorld()
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    async with world.running():
        await asyncio.sleep(30)
        told = world.pressure.describe()
        counted = {
            state: world.registry.get_sample_value(
                "bailiff_worker_pressure_nodes", {"state": state}
            )
            for state in ("known", "unknown", "pressed")
        }
    assert told["pressed"]["nodes"]["n1"][0] == "memory.available"
    assert counted == {"known": 1, "unknown": 0, "pressed": 1}


def ages(world: PressureWorld, signal: str) -> tuple[float | None, float | None]:
    """How many were counted, and their sum in seconds."""
    name, labels = "kubelet_eviction_stats_age_seconds", {"eviction_signal": signal}
    count, total = (
        world.registry.get_sample_value(f"{name}_{what}", labels) for what in ("count", "sum")
    )
    return count, total


@pytest.mark.parametrize(("measured", "at_least", "at_most"), [(0, 5, 10), (1000, 0, 0)])
async def test_how_old_the_measurement_was_is_counted_of_the_signal_that_is_acted_upon(
    measured, at_least, at_most
):
    """Never below 0, though a node's clock may be ahead of ours."""
    world = PressureWorld()
    world.add_node()
    world.fill("greedy", 3900)
    world.kubelet.frozen_at = measured
    async with world.running():
        await asyncio.sleep(30)
    count, total = ages(world, "memory.available")
    assert count == 1
    assert at_least <= total <= at_most
    assert ages(world, "pid.available") == (None, None)


async def test_conditions_that_a_kubelet_goes_on_writing_are_never_taken_over():
    world = PressureWorld()

    def write() -> None:
        beat = world.clock.now().isoformat()
        world.add_node(
            conditions=[{"type": "MemoryPressure", "status": "True", "lastHeartbeatTime": beat}]
        )

    write()
    async with world.running():
        for _ in range(5):
            await asyncio.sleep(1500)
            write()
    assert world.published == []
