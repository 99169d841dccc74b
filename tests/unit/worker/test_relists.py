"""Lists in the middle of a worker's life: what they have, what they lack, and what they repeat."""

import asyncio

import msgspec
import pytest

from bailiff.kinds import NodeSpec
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import World, tainted

pytestmark = pytest.mark.looptime(start=0)


def patient() -> World:
    """A world with a pod that is to go after 100 s."""
    world = tainted()
    world.add_pod("patient", tolerating(seconds=100))
    return world


async def test_a_list_of_the_same_moves_no_deadline():
    world = patient()
    async with world.running():
        for _ in range(9):
            await asyncio.sleep(10)
            world.relist_nodes()
            world.relist_pods()
        await asyncio.sleep(60)
    assert world.deletions() == {"patient": 100.0}
    assert world.requests == ["patch", "delete"]


async def test_a_pod_that_a_list_lacks_is_gone_and_nothing_is_sent_for_it():
    world = patient()
    async with world.running():
        await asyncio.sleep(50)
        world.relist_pods("patient")
        await asyncio.sleep(100)
        assert world.requests == []
        # It was there all the time, and is overdue.
        world.relist_pods()
        await asyncio.sleep(1)
    assert world.deletions() == {"patient": 150.0}


async def test_a_list_that_brings_another_pod_of_the_name_leaves_nothing_of_the_first():
    world = patient()
    async with world.running():
        await asyncio.sleep(50)
        old = world.pods["patient"]
        metadata = msgspec.structs.replace(old.metadata, uid="another")
        world.pods["patient"] = msgspec.structs.replace(old, metadata=metadata)
        world.relist_pods()
        await asyncio.sleep(400)
    assert [(round(at), uid) for at, _, uid in world.deleted] == [(100, "another")]
    assert {call.uid for call in world.calls if call.verb in {"patch", "delete"}} == {"another"}


async def test_a_node_that_a_list_lacks_lets_its_pods_be_until_it_is_back():
    world = patient()
    async with world.running():
        await asyncio.sleep(50)
        world.relist_nodes("n1")
        await asyncio.sleep(100)
        assert world.requests == []
        world.relist_nodes()
        await asyncio.sleep(200)
    assert set(world.deletions()) == {"patient"}


async def test_a_taint_that_a_list_no_longer_has_evicts_nobody():
    world = patient()
    async with world.running():
        await asyncio.sleep(50)
        world.nodes["n1"] = msgspec.structs.replace(world.nodes["n1"], spec=NodeSpec())
        world.relist_nodes()
        await asyncio.sleep(600)
    assert world.deleted == []


async def test_what_a_webhook_denies_until_some_second_is_done_after_it():
    world = World()
    world.deny(403, "annotate", "delete", until=20.0)
    world.taint("n1", no_execute())
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(15)
        assert (world.annotated, world.deleted) == ([], [])
        await asyncio.sleep(60)
    assert len(world.annotated) == 1
    assert set(world.deletions()) == {"plain"}
    assert all(at >= 20.0 for at, _, _ in world.deleted)
