"""Whoever leads next: since when a node is lost, whose turn it is, and when time starts over."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from bailiff.worker import Shard
from bailiff.worker.lead.sharding import shard_of
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.unit.worker.node_loss.scene import (
    LATEST,
    OUT_OF_SERVICE,
    all_not_ready,
    forced,
    note_since,
    three_nodes,
)

pytestmark = pytest.mark.looptime(start=0)


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


async def test_whoever_has_lost_its_lead_begins_anew():
    """The node came back and was lost again while another looked after it."""
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.loss.lost()
        assert world.loss.describe()["nodes"] == 0


async def test_who_leads_again_goes_by_nothing_that_it_heard_when_it_led_before():
    """Another has led meanwhile, has heard otherwise, and has taken the taint away."""
    fence, election = SaidOff(), Appointment(leads=True)
    mode = NodeLossMode(fence=fence, taints_fenced=True)
    world = three_nodes(mode, election=election)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        assert [one.key for one in world.nodes["a0"].spec.taints] == [OUT_OF_SERVICE]
        election.leads = False
        await asyncio.sleep(10)
        fence.off = False
        world.taint_node("a0")
        world.add("db-0", "a0", owner="StatefulSet")
        world.mark_terminating("db-0")
        await asyncio.sleep(10)
        election.appoint()
        await asyncio.sleep(60)
    assert (forced(world), world.nodes["a0"].spec.taints) == ({"web"}, ())
