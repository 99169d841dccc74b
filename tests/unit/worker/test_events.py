"""Events beside the evictions: in a storm they wait, for a while; on virtual time."""

import asyncio

import pytest

from tests.harness.kinds import no_execute
from tests.harness.worlds.world import World

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
