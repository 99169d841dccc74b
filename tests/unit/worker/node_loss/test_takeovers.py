"""Whoever takes over believes a note only as far as it holds, and forces nobody before it knows."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import msgspec
import pytest

from bailiff.cluster import Changed
from bailiff.kinds import Taint
from bailiff.worker import Shard
from bailiff.worker.lead.sharding import shard_of
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff

pytestmark = pytest.mark.looptime(start=0)

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
EARLIEST, LATEST = 340, 360


def three_nodes(mode: NodeLossMode | None = None, **settings) -> NodeLossWorld:
    world = NodeLossWorld(mode, **settings)
    world.add_nodes(3)
    world.add("web", "a0")
    return world


def with_database(mode: NodeLossMode | None = None, **settings) -> NodeLossWorld:
    """A pod that must not run twice, and hangs when it is deleted."""
    world = three_nodes(mode, **settings)
    world.lingering = True
    world.add("db-0", "a0", owner="StatefulSet")
    return world


def forced(world: NodeLossWorld) -> set[str]:
    return {
        one.name
        for one in world.calls
        if one.verb == "delete" and one.body.get("gracePeriodSeconds") == 0
    }


# All zones down: no kubelet is ready, and all renew their Leases, so that the watch is not deaf.


def all_not_ready(world: NodeLossWorld) -> None:
    for name in ("a0", "a1", "a2"):
        world.set_ready(name, "False")


async def test_a_restart_while_no_node_is_ready_has_their_time_start_over_all_the_same():
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        all_not_ready(world)
        await asyncio.sleep(200)
        assert "since" not in world.note_on("a0")
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(300)
        heir.come_back("a1", "a2")
        await asyncio.sleep(290)
        assert heir.gone() == {}
        await asyncio.sleep(40)
    assert heir.gone().keys() == {"web"}


async def test_so_has_one_after_others_have_come_back():
    world = three_nodes()
    async with world.running():
        await asyncio.sleep(20)
        all_not_ready(world)
        await asyncio.sleep(200)
    world.come_back("a1", "a2")
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(290)
        assert heir.gone() == {}
        await asyncio.sleep(40)
    assert heir.gone().keys() == {"web"}


async def test_who_is_elected_after_it_has_seen_that_goes_by_what_it_has_seen():
    """The note is of a leader that died before it could tell."""
    election = Appointment()
    world = three_nodes(election=election)
    async with world.running():
        await asyncio.sleep(20)
        all_not_ready(world)
        await asyncio.sleep(80)
        world.annotate("a0", note_since(world, 60))
        world.come_back("a1", "a2")
        await asyncio.sleep(10)
        election.appoint()
        await asyncio.sleep(280)
        assert world.gone() == {}
        await asyncio.sleep(40)
    assert world.gone().keys() == {"web"}


def note_since(world: NodeLossWorld, seconds: float, released: float | None = None) -> str:
    """What a leader has noted on a0, which was lost, and had its turn, so many seconds ago."""
    told: dict[str, Any] = {
        "uid": "uid-a0",
        "since": world.at(world.clock.monotonic() - seconds).isoformat(),
        "renewed": msgspec.to_builtins(world.leases["a0"].spec.renew_time),
        "transition": world.nodes["a0"].status.conditions[0].last_transition_time,
    }
    if released is not None:
        told["released"] = world.at(world.clock.monotonic() - released).isoformat()
    return msgspec.json.encode(told).decode()


async def test_who_is_elected_knows_from_the_note_since_when():
    """It was started when the node was long lost."""
    election = Appointment()
    world = three_nodes(election=election)
    world.fall_silent("a0")
    async with world.running():
        await asyncio.sleep(60)
        world.annotate("a0", note_since(world, 250))
        await asyncio.sleep(1)
        election.appoint()
        await asyncio.sleep(44)
        assert world.gone() == {}
        await asyncio.sleep(15)
    assert world.gone().keys() == {"web"}


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


# The pace.


async def test_a_restart_gives_nobody_a_turn_in_a_large_zone_that_is_partially_disrupted():
    world = NodeLossWorld()
    names = world.add_nodes(60)
    for name in names:
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent(*names[:40])
        await asyncio.sleep(370)
    gone = dict(world.gone())
    for _ in range(4):
        world = world.successor()
        async with world.running():
            await asyncio.sleep(20)
        gone |= world.gone()
    times = sorted(gone.values())
    assert len(times) in (1, 2)
    assert all(later - sooner >= 99 for sooner, later in itertools.pairwise(times))


async def test_each_of_two_shards_has_half_of_the_pace():
    world = NodeLossWorld(shards=(Shard(0, 2),))
    names = world.add_nodes(40)
    for name in names:
        world.add(f"on-{name}", name)
    mine = [name for name in names if shard_of(name, 2) == 0][:4]
    others = [name for name in names if shard_of(name, 2) == 1][:4]
    async with world.running():
        world.fall_silent(*mine, *others)
        await asyncio.sleep(390)
        value = world.registry.get_sample_value("bailiff_worker_node_loss_nodes", {"state": "lost"})
        assert value == 4
        await asyncio.sleep(60)
    assert world.gone().keys() == {f"on-{name}" for name in mine}
    times = sorted(world.gone().values())
    assert all(19 <= later - sooner <= 22 for sooner, later in itertools.pairwise(times))
    assert all(world.note_on(name) == {} for name in others)


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


async def test_who_is_elected_takes_away_what_is_left_on_a_node_that_has_come_back():
    """The leader before has died; the standby has seen it come back when it might not write."""
    mode = NodeLossMode(fence=SaidOff(), taints_fenced=True)
    world = three_nodes(mode)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    election = Appointment()
    heir = world.successor(mode, election=election)
    async with heir.running():
        await asyncio.sleep(60)
        heir.come_back("a0")
        await asyncio.sleep(60)
        assert heir.nodes["a0"].spec.taints != ()
        election.appoint()
        await asyncio.sleep(20)
    assert (heir.nodes["a0"].spec.taints, heir.note_on("a0")) == ((), {})


async def test_who_is_elected_keeps_the_pace_of_whoever_led_before():
    election = Appointment()
    world = NodeLossWorld(election=election)
    for name in world.add_nodes(20):
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent("a0", "a1")
        await asyncio.sleep(355)
        # Which has given a0 its turn three seconds ago.
        world.annotate("a0", note_since(world, 305, released=3))
        await asyncio.sleep(0.5)
        election.appoint()
        await asyncio.sleep(4)
        assert "on-a1" not in world.gone()
        await asyncio.sleep(10)
    assert world.gone().keys() == {"on-a0", "on-a1"}


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


async def test_whoever_has_lost_its_lead_begins_anew():
    """The node came back and was lost again while another looked after it."""
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.loss.lost()
        assert world.loss.describe()["nodes"] == 0
