"""Events beside the evictions: in a storm they wait, for a while; on virtual time."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bailiff.cluster import UnreachableError
from bailiff.decisions import EventNote
from tests.harness.kinds import no_execute, pod_of
from tests.harness.worlds.world import World

NOTE = EventNote("Normal", "TaintManagerEviction", "Marking for deletion")

pytestmark = pytest.mark.looptime(start=0)


def storm(pods: int, latency: float) -> World:
    """One eviction at a time, each takes two requests of that many seconds."""
    world = World(concurrency=1)
    world.latency = latency
    world.taint("n1", no_execute())
    for number in range(pods):
        world.add_pod(f"pod-{number}")
    return world


async def test_events_follow_the_evictions_of_a_storm():
    world = storm(pods=5, latency=0.5)
    async with world.running():
        await asyncio.sleep(3.9)
        assert (len(world.deleted), len(world.notes)) == (3, 0)
        # The last one runs, nothing else is overdue.
        await asyncio.sleep(0.4)
        assert (len(world.deleted), len(world.notes)) == (4, 5)


async def test_an_event_does_not_wait_for_ever():
    world = storm(pods=100, latency=0.5)
    async with world.running():
        await asyncio.sleep(19)
        assert world.notes == []
        await asyncio.sleep(3)
        assert 0 < len(world.notes) < 5


async def test_shutdown_does_not_wait_for_the_storm():
    world = storm(pods=100, latency=0.5)
    async with world.running():
        await asyncio.sleep(2)
    assert len(world.notes) == len(world.deleted) == 3


async def test_failures_are_told_once_a_minute_with_their_number(monkeypatch):
    world = World()
    monkeypatch.setattr(world, "record", failing)
    with capture_logs() as logs:
        async with world.running():
            for number in range(50):
                world.worker.recorder.record(pod_of(f"p{number}"), NOTE, "node-taints")
            await asyncio.sleep(61)
            world.worker.recorder.record(pod_of("late"), NOTE, "node-taints")
            await asyncio.sleep(1)
    told = [entry["count"] for entry in logs if entry["event"] == "events not written"]
    assert told == [1, 50]


async def failing(*_):
    raise UnreachableError("refused")
