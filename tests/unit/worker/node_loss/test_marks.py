"""What is written of pods of lost nodes: once each, by whoever leads, while the node is lost."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.worker import Shard
from bailiff.worker.lead.sharding import shard_of
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from bailiff.worker.systems.node_loss.watched import PodMark
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld
from tests.unit.worker.node_loss.scene import LATEST, three_nodes

pytestmark = pytest.mark.looptime(start=0)


def said_ready(world: NodeLossWorld, name: str) -> str:
    return world.pods[name].status.conditions[0].status


async def test_a_standby_writes_nothing_and_all_of_it_once_it_leads():
    election = Appointment()
    world = three_nodes(election=election)
    world.add("agent", "a0", owner="DaemonSet")
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(100)
        assert (said_ready(world, "web"), world.calls) == ("True", [])
        election.appoint()
        await asyncio.sleep(15)
        assert said_ready(world, "web") == said_ready(world, "agent") == "False"
        await asyncio.sleep(300)
    assert world.pods["agent"].status.reason == "NodeLost"
    assert world.events_on("agent") == ["NodeNotReady"]


async def test_pods_of_a_node_that_is_back_are_not_marked_any_more():
    """The API server took none of the writes while it was lost."""
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        world.deny(500, "patch", until=150)
        world.fall_silent("a0")
        await asyncio.sleep(100)
        world.come_back("a0")
        await asyncio.sleep(200)
    assert said_ready(world, "web") == "True"
    assert world.events_on("web") == []


async def test_nor_in_the_moment_before_the_next_look():
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(60)
        watched = world.loss.fleet.get("a0")
        assert watched is not None
        mark = PodMark("default", "web", "uid-web", "stuck")
        watched.to_mark[mark] = "why"
        world.come_back("a0")
        await asyncio.sleep(0)
        assert watched.is_lost
        await world.loss.marker.attempt(mark, 0)
    assert "NodeLossStuck" not in world.events_on("web")


async def test_nor_are_those_of_a_node_of_which_nothing_is_heard():
    """It says by its condition that it is ready; the watch of Leases hangs."""
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        world.deny(500, "patch", until=130)
        world.fall_silent("a0")
        await asyncio.sleep(60)
        world.lease_watch_broken = True
        await asyncio.sleep(20)
        world.set_ready("a0", "True")
        await asyncio.sleep(100)
    assert said_ready(world, "web") == "True"


async def test_one_that_many_pods_wait_behind_is_not_marked_after_its_node_is_back():
    world = three_nodes()
    for index in range(200):
        world.add(f"pod-{index}", "a0")
    world.latency = 1.0
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(60)
        world.come_back("a0")
        # It is looked at every second, and writes that are under way take one.
        await asyncio.sleep(2.1)
        before = [name for name in world.pods if said_ready(world, name) == "False"]
        await asyncio.sleep(100)
        after = [name for name in world.pods if said_ready(world, name) == "False"]
    assert 0 < len(before) < 150
    assert after == before


async def test_each_pod_is_marked_once_however_often_the_node_is_looked_at_meanwhile():
    """A pod that was marked has changed, so that all of its node are looked at again."""
    world = three_nodes()
    for index in range(20):
        world.add(f"pod-{index}", "a0")
    world.latency = 2.0
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(120)
    marked = [one.name for one in world.calls if one.verb == "patch" and one.plural == "pods"]
    assert len(marked) == len(set(marked)) == 21


async def test_pods_of_a_zone_that_is_down_are_all_marked():
    world = three_nodes()
    world.add_nodes(3, "b")
    for name in ("a0", "a1", "a2"):
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent("a0", "a1", "a2")
        await asyncio.sleep(120)
    assert {said_ready(world, f"on-{name}") for name in ("a0", "a1", "a2")} == {"False"}
    assert world.gone() == {}


async def test_what_evicts_a_pod_marks_it_by_itself():
    """So the reason is written once, before the delete, and not a second time beside it."""
    world = three_nodes()
    world.lingering = True
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    steps = [one.verb for one in world.calls if one.name == "web" and one.plural == "pods"]
    # That it is not ready; then the reason, and the delete.
    assert steps == ["patch", "patch", "delete"]


async def test_a_node_without_pods_is_given_up_in_silence():
    world = three_nodes()
    async with world.running():
        world.fall_silent("a1")
        await asyncio.sleep(LATEST)
    assert "released" in world.note_on("a1")
    assert world.events_on("a1") == []


async def test_nodes_of_another_shard_are_left_to_its_worker():
    world = NodeLossWorld(shards=(Shard(0, 2),))
    names = world.add_nodes(12)
    for name in names:
        world.add(f"on-{name}", name)
    other = next(name for name in names if shard_of(name, 2) == 1)
    async with world.running():
        world.fall_silent(other)
        await asyncio.sleep(600)
    assert world.calls == []


async def test_those_that_are_lost_longest_have_their_turn_first():
    """Whoever is started anew finds them in another order than that in which they fell silent."""
    mode = NodeLossMode(settings=NodeLossSettings(rate=0.02))
    world = NodeLossWorld(mode)
    for name in world.add_nodes(20):
        world.add(f"on-{name}", name)
    async with world.running():
        for name in ("a9", "a5", "a1"):
            world.fall_silent(name)
            await asyncio.sleep(20)
        await asyncio.sleep(100)
    heir = world.successor(mode)
    async with heir.running():
        await asyncio.sleep(350)
    assert sorted(heir.gone(), key=heir.gone().__getitem__) == ["on-a9", "on-a5", "on-a1"]


async def test_whoever_hears_nothing_evicts_nobody_from_a_node_that_it_has_given_up():
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(200)
        world.add("late", "a0", created=world.clock.now())
        await asyncio.sleep(LATEST - 200)
        assert world.gone().keys() == {"web"}
        world.lease_watch_broken = True
        await asyncio.sleep(400)
        assert world.gone().keys() == {"web"}
        since = world.note_on("a0")["since"]
        world.lease_watch_broken = False
        await asyncio.sleep(75)
        # Its time has started over, which is noted once it is known not to live.
        assert world.note_on("a0")["since"] > since
        assert "released" not in world.note_on("a0")
        await asyncio.sleep(300)
    assert world.gone().keys() == {"web", "late"}


async def test_a_watch_that_says_nothing_for_a_minute_makes_no_node_silent():
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        for _ in range(20):
            world.lease_watch_broken = True
            # Longer than what makes a node silent.
            await asyncio.sleep(58)
            world.lease_watch_broken = False
            await asyncio.sleep(12)
            assert world.loss.describe()["lost"]["count"] == 0
    assert world.calls == []
