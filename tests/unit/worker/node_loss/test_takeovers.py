"""Whoever takes over believes a note only as far as it holds, and forces nobody before it knows."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.cluster import Changed
from bailiff.kinds import Taint
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.unit.worker.node_loss.scene import (
    LATEST,
    OUT_OF_SERVICE,
    forced,
    three_nodes,
    with_database,
)

pytestmark = pytest.mark.looptime(start=0)


# What was known of a fence, or by a taint.


@pytest.mark.parametrize("way", ["fence", "taint"])
@pytest.mark.parametrize("elects", [True, False])
async def test_off_and_alive_forces_nobody_after_a_restart_either(way, elects):
    """Its kubelet is not ready, and renews its Lease."""
    mode = NodeLossMode(fence=SaidOff()) if way == "fence" else NodeLossMode()
    world = with_database(mode)
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        if way == "taint":
            world.taint_node("a0", Taint(key=OUT_OF_SERVICE, effect="NoSchedule"))
        await asyncio.sleep(400)
        world.mark_terminating("db-0")
    election = Appointment(leads=not elects)
    heir = world.successor(mode, election=election)
    async with heir.running():
        await asyncio.sleep(15)
        if elects:
            election.appoint()
        await asyncio.sleep(600)
    assert (world.gone(), heir.gone()) == ({}, {})
    assert (forced(world), forced(heir)) == (set(), set())


async def test_whether_it_lives_is_known_before_anybody_is_forced():
    """It was tainted while nobody looked, and its kubelet renews its Lease every 40 s."""
    world = with_database()
    world.set_ready("a0", "False")
    world.taint_node("a0", Taint(key=OUT_OF_SERVICE, effect="NoSchedule"))
    world.mark_terminating("db-0")
    world.fall_silent("a0")
    async with world.running():
        await asyncio.sleep(40)
        world.renew("a0")
        await asyncio.sleep(40)
        assert forced(world) == set()
        # Until it gives no sign of life any more.
        await asyncio.sleep(20)
    assert forced(world) == {"db-0"}


async def test_a_fence_that_is_not_believed_is_not_believed_by_the_next_worker():
    mode = NodeLossMode(fence=SaidOff(), taints_fenced=True)
    world = with_database(mode)
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(400)
        assert "renews its Lease" in world.note_on("a0")["distrust"]
        world.fall_silent("a0")
        await asyncio.sleep(100)
        assert world.note_on("a0")["silent"] is True
    heir = world.successor(mode)
    async with heir.running():
        await asyncio.sleep(600)
        assert (heir.gone(), heir.nodes["a0"].spec.taints) == ({}, ())
        # A person is believed, now that it does not live.
        heir.taint_node("a0", Taint(key=OUT_OF_SERVICE, effect="NoSchedule"))
        await asyncio.sleep(20)
    assert forced(heir) == {"db-0", "web"}


async def test_a_taint_of_ours_proves_nothing_once_the_fence_says_otherwise():
    fence = SaidOff()
    mode = NodeLossMode(fence=fence, taints_fenced=True)
    world = three_nodes(mode)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    assert [one.key for one in world.nodes["a0"].spec.taints] == [OUT_OF_SERVICE]
    fence.off = False
    world.add("db-0", "a0", owner="StatefulSet")
    heir = world.successor(mode)
    heir.lingering = True
    async with heir.running():
        await asyncio.sleep(600)
    assert forced(heir) == set()
    assert heir.nodes["a0"].spec.taints == ()


# Which node, and since when.


async def test_a_node_without_a_lease_that_was_ready_meanwhile_starts_anew():
    world = NodeLossWorld()
    world.add_nodes(3)
    world.add_node("virtual", "a", "True", leased=False)
    world.add("web", "virtual")
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("virtual", "Unknown")
        await asyncio.sleep(200)
        assert world.note_on("virtual")["state"] == "Unknown"
    world.set_ready("virtual", "True")
    await asyncio.sleep(10)
    world.set_ready("virtual", "Unknown")
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(290)
        assert heir.gone() == {}
        await asyncio.sleep(30)
    assert heir.gone().keys() == {"web"}


async def test_a_node_that_is_not_ready_keeps_its_time_over_a_restart_though_it_renews():
    """Nothing is written of it before it is known whether it lives."""
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(200)
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(0.5)
        heir.loss.keeper.ask_for("a0")
        await asyncio.sleep(90)
        assert heir.gone() == {}
        await asyncio.sleep(30)
    assert heir.gone().keys() == {"web"}


async def test_a_taint_of_ours_stays_until_the_fence_was_asked_anew():
    """Taken away and put back it would have volumes detached twice."""
    mode = NodeLossMode(fence=SaidOff(), taints_fenced=True)
    world = three_nodes(mode)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    heir = world.successor(mode)
    async with heir.running():
        await asyncio.sleep(100)
    writes = [one for one in heir.calls if one.verb == "annotate" and "spec" in one.body]
    assert writes == []
    assert [one.key for one in heir.nodes["a0"].spec.taints] == [OUT_OF_SERVICE]


async def test_distrust_outlives_a_restart_whatever_has_changed_but_that_the_node_is_back():
    mode = NodeLossMode(fence=SaidOff())
    world = with_database(mode)
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(400)
        assert world.note_on("a0")["distrust"]
    # It has renewed since the note was written; then it fell silent, and its controller says so.
    world.renew("a0")
    world.fall_silent("a0")
    world.set_ready("a0", "Unknown")
    heir = world.successor(mode)
    async with heir.running():
        await asyncio.sleep(600)
    assert (heir.gone(), forced(heir)) == ({}, set())


async def test_after_nothing_was_heard_it_is_not_known_whether_a_node_lives():
    """Another node is heard of first; this one renews as well, which comes later."""
    world = with_database()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        world.taint_node("a0", Taint(key=OUT_OF_SERVICE, effect="NoSchedule"))
        world.mark_terminating("db-0")
        await asyncio.sleep(20)
        world.lease_watch_broken = True
        await asyncio.sleep(100)
        world.lease_watch.send(Changed(world.leases["a1"]))
        await asyncio.sleep(8)
        world.lease_watch_broken = False
        await asyncio.sleep(100)
    assert forced(world) == set()


@pytest.mark.parametrize(
    ("deleted_at", "goes_after"),
    [
        pytest.param(20, 100, id="before it was noted: its time goes on"),
        pytest.param(200, 350, id="after that: it starts over, since nothing tells that it is one"),
    ],
)
async def test_a_node_whose_lease_is_deleted_is_silent_for_the_next_worker_too(
    deleted_at, goes_after
):
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        world.fall_silent("a0")
        await asyncio.sleep(deleted_at)
        world.delete_lease("a0")
        await asyncio.sleep(250 - 20 - deleted_at)
        assert world.note_on("a0")["state"] == "Silent"
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(goes_after - 15)
        assert heir.gone() == {}
        await asyncio.sleep(40)
    assert heir.gone().keys() == {"web"}


async def test_a_node_that_is_made_anew_under_its_name_is_another():
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.remake("a0")
        await asyncio.sleep(320)
        assert world.gone() == {}
        await asyncio.sleep(60)
    assert world.gone().keys() == {"web"}
