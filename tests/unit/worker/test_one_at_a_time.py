"""A system that chooses one pod by an old observation: what it keeps, and what it is told."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from bailiff.cluster import Unreadable
from bailiff.decisions.policies import Pause, PauseNotice, Policies
from bailiff.worker import Shard
from tests.harness.kinds import no_execute, node_of
from tests.harness.ranking_system import seating_node
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.hall import Counted, Hall

pytestmark = pytest.mark.looptime(start=0)


async def test_by_one_count_one_pod_goes_though_its_own_status_has_the_node_looked_at():
    world = Counted()
    world.count(4)
    async with world.running():
        await asyncio.sleep(100)
        assert list(world.deletions()) == ["p0"]
        world.remove_pod("p0")
        await asyncio.sleep(50)
        assert list(world.deletions()) == ["p0"]
        world.count(3)
        await asyncio.sleep(50)
    assert list(world.deletions()) == ["p0", "p1"]


async def test_a_newer_count_chooses_nobody_else_while_the_eviction_is_under_way():
    world = Counted()
    world.count(4)
    async with world.running():
        await asyncio.sleep(60.1)
        world.sit("lowest", -1)
        world.count(5)
        await asyncio.sleep(0.2)
        assert [one.pod.metadata.name for one in world.worker.pending] == ["p0"]
        await asyncio.sleep(20)
    assert list(world.deletions()) == ["p0", "lowest"]


async def test_an_eviction_that_fails_is_told_and_the_next_round_tries_the_same_pod_again():
    world = Counted()
    world.count(4)
    world.deny(403, "delete", until=100)
    async with world.running():
        for _ in range(9):
            await asyncio.sleep(10)
            world.count(4)
        assert {name for name, _ in world.seats.heard} == {"p0"}
        assert world.seats.heard[:3] == [
            ("p0", "began"), ("p0", "failed: denied"), ("p0", "began"),
        ]  # fmt: skip
        await asyncio.sleep(300)
    assert list(world.deletions()) == ["p0"]
    assert world.seats.heard[-1] == ("p0", "ended: deleted")


async def test_a_count_that_comes_while_an_attempt_fails_is_used_up_by_the_next():
    world = Counted()
    world.count(4)
    world.deny(403, "delete", until=62)
    async with world.running():
        while ("p0", "began") not in world.seats.heard:
            await asyncio.sleep(0.01)
        world.count(4)
        await asyncio.sleep(300)
    assert world.seats.heard[:3] == [("p0", "began"), ("p0", "failed: denied"), ("p0", "began")]
    assert list(world.deletions()) == ["p0"]


async def test_what_never_began_is_told_to_be_over_too():
    world = Hall(policies=Policies(pause=Pause(namespace="ops")))
    world.worker.set_pause(PauseNotice())
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(70)
        world.remove_pod("p2")
        await asyncio.sleep(10)
    assert world.seats.heard == [("p0", "ended: kept")]
    # It was never announced, so there is nothing to take back.
    assert ("usher", "Reseated") not in world.reported


async def test_what_was_announced_is_taken_back_by_the_reason_of_its_own():
    world = Hall()
    world.deny(403, "delete", until=100)
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(70)
        world.remove_pod("p2")
        await asyncio.sleep(40)
    assert world.deletions() == {}
    assert world.reported.count(("usher", "Unseated")) == 1
    assert world.reported.count(("usher", "Reseated")) == 1
    assert world.seats.heard[-1] == ("p0", "ended: kept")


async def test_a_node_that_comes_back_under_its_name_begins_anew():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        world.remove_node("n1")
        await asyncio.sleep(5)
        world._put_node(seating_node("n1", 2))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 115.0}


async def test_another_node_of_the_same_name_begins_anew():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        node = seating_node("n1", 2)
        world._put_node(replace(node, metadata=replace(node.metadata, uid="another")))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 110.0}


async def test_a_node_that_cannot_be_read_is_not_gone():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        world.node_watch.send(Unreadable(world.nodes["n1"].metadata, "", deleted=False))
        await asyncio.sleep(5)
        world._put_node(seating_node("n1", 2))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 60.0}


async def test_whose_shard_is_lost_begins_anew_when_it_has_it_again():
    election = Appointment(shard=Shard(0, 1))
    world = Hall(election=election, shards=Shard.all_of(2))
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        election.appoint()
        await asyncio.sleep(50)
        election.leads = False
        await election.listener.lost_shard()
        await asyncio.sleep(5)
        election.appoint()
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 115.0}


async def test_whoever_was_told_that_it_began_is_told_that_it_is_over():
    world = Counted()
    world.latency = 5.0
    world.count(4)
    async with world.running():
        await asyncio.sleep(61)
        # Meanwhile it is another system that has the pod go.
        world.count(2)
        world._put_node(node_of("n1", *world.nodes["n1"].spec.taints, no_execute()))
        await asyncio.sleep(60)
    assert "p0" in world.deletions()
    assert world.seats.heard == [("p0", "began"), ("p0", "ended: deleted")]
