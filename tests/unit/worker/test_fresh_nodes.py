"""Nobody is evicted by a taint that the watch of nodes may have missed to see go; virtual time."""

import asyncio
from datetime import timedelta

import pytest

from bailiff.cluster import Changed, UnreachableError, WatchHealth
from bailiff.kinds import Node
from bailiff.worker.mirror.fresh_nodes import FreshNodes
from tests.harness.clocks import START, LoopClock
from tests.harness.kinds import edited_at, no_execute, node_of, tolerating
from tests.harness.worlds.world import World, attempts

pytestmark = pytest.mark.looptime(start=0)


class Half:
    """A worker whose watch of nodes may be dead, and what it reads instead."""

    def __init__(self, **health) -> None:
        self.world = World()
        self.world.taint("n1", no_execute())
        self.reads: list[float] = []
        self.failing = False
        self.health = WatchHealth(synced=True, connected=True, last_contact=0.0)
        for name, value in health.items():
            setattr(self.health, name, value)
        self.world.worker.attempt.fresh_nodes.follow(self.health, self.read)

    async def read(self, name: str) -> Node:
        self.reads.append(self.world.clock.monotonic())
        await asyncio.sleep(0.1)
        if self.failing:
            raise UnreachableError("cut off")
        return self.world.nodes[name]

    def untaint_unseen(self) -> None:
        """The watch does not tell."""
        self.world.nodes["n1"] = node_of("n1")


DEAD = {
    "disconnected": {"connected": False},
    "not synced": {"synced": False},
    "never heard": {"last_contact": None},
    "silent for 11 s": {},
}


@pytest.mark.parametrize("health", DEAD.values(), ids=DEAD)
async def test_a_taint_that_went_unseen_evicts_nobody(health):
    half = Half(**health)
    half.world.add_pod("patient", tolerating(seconds=11))
    async with half.world.running():
        half.untaint_unseen()
        await asyncio.sleep(60)
        assert half.world.requests == []
        # Tried again and again, for the watch may come to life any moment.
        assert attempts(half.world, "conflict") > 3
        half.world.node_watch.send(Changed(half.world.nodes["n1"]))
        await asyncio.sleep(1)
        assert len(half.world.worker.pending) == 0
    assert half.world.deleted == []


async def test_where_the_watch_is_live_no_node_is_read():
    half = Half()
    half.world.add_pod("patient", tolerating(seconds=10))
    async with half.world.running():
        await asyncio.sleep(60)
    assert half.world.deletions() == {"patient": 10.0}
    assert half.reads == []


@pytest.mark.parametrize("health", DEAD.values(), ids=DEAD)
async def test_a_taint_that_is_still_there_evicts(health):
    half = Half(**health)
    half.world.add_pod("patient", tolerating(seconds=11))
    async with half.world.running():
        await asyncio.sleep(60)
    assert list(half.world.deletions()) == ["patient"]


async def test_where_the_node_cannot_be_read_the_eviction_waits_until_it_can():
    half = Half(connected=False)
    half.failing = True
    half.world.add_pod("plain")
    async with half.world.running():
        await asyncio.sleep(60)
        assert half.world.requests == []
        half.failing = False
        await asyncio.sleep(60)
    assert list(half.world.deletions()) == ["plain"]


@pytest.mark.parametrize("failing", [False, True], ids=["read", "not read"])
async def test_the_evictions_of_a_node_share_a_read_a_second(failing):
    half = Half(connected=False)
    half.failing = failing
    for number in range(100):
        half.world.add_pod(f"pod-{number}")
    async with half.world.running():
        await asyncio.sleep(3)
    assert half.reads
    assert all(later - one >= 1.0 for one, later in zip(half.reads, half.reads[1:], strict=False))


async def test_a_machine_that_has_slept_does_not_believe_what_it_heard_before():
    clock = LoopClock()
    fresh = FreshNodes(clock)
    health = WatchHealth(synced=True, connected=True, last_contact=0.0)

    async def read(name: str) -> Node:
        return node_of(name)

    fresh.follow(health, read)
    await asyncio.sleep(5)
    assert await fresh.read("n1") is None
    clock.slept = 3600.0
    assert await fresh.read("n1") is not None
    await asyncio.sleep(95)
    health.last_contact = clock.monotonic()
    assert await fresh.read("n1") is None


async def test_what_was_read_is_not_kept_for_ever():
    fresh = FreshNodes(LoopClock())

    async def read(name: str) -> Node:
        return node_of(name)

    fresh.follow(WatchHealth(), read)
    for number in range(5000):
        await fresh.read(f"n{number}")
        await asyncio.sleep(0.01)
    assert len(fresh._looks) < 1200


async def test_an_answer_that_took_long_is_not_news():
    clock, began = LoopClock(), []
    fresh = FreshNodes(clock)

    async def read(_name: str) -> Node:
        began.append(clock.monotonic())
        await asyncio.sleep(9.0)
        return node_of("n1")

    fresh.follow(WatchHealth(), read)
    early = asyncio.create_task(fresh.read("n1"))
    await asyncio.sleep(0.5)
    soon = asyncio.create_task(fresh.read("n1"))
    await asyncio.sleep(7.5)
    await asyncio.gather(early, soon, fresh.read("n1"))
    assert began == [0.0, 9.0]


@pytest.mark.parametrize("uid", ["", "another"], ids=["put back", "on a node of the same name"])
async def test_a_taint_that_came_back_unseen_counts_from_then(uid):
    half = Half(connected=False)
    half.world.add_pod("patient", tolerating(seconds=100))
    async with half.world.running():
        await asyncio.sleep(90)
        came_back = edited_at(START + timedelta(seconds=90))
        node = node_of("n1", no_execute(), uid=uid, managed_fields=came_back)
        half.world.nodes["n1"] = node
        await asyncio.sleep(90)
        assert half.world.deleted == []
        half.world.relist_nodes()
        await asyncio.sleep(90)
    assert half.world.deletions()["patient"] >= 190.0
