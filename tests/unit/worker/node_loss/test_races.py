"""What comes between: others that lead or write, a node that comes back meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions import Scene
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from bailiff.worker.systems.node_loss.watched import PodMark
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.harness.worlds.switch import Switch
from tests.unit.worker.node_loss.scene import (
    LATEST,
    graces,
    taint_by_hand,
    world_with,
)

if TYPE_CHECKING:
    from tests.harness.worlds.calls import Call

pytestmark = pytest.mark.looptime(start=0)


async def test_a_node_that_is_contradicted_takes_nobody_the_turn():
    world = world_with()
    world.add("other", "a1")
    world.add_nodes(10, "a")
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        taint_by_hand(world, "a0")
        await asyncio.sleep(100)
        world.fall_silent("a1")
        await asyncio.sleep(LATEST)
        assert "released" not in world.note_on("a0")
    assert world.gone().keys() == {"other"}


async def test_who_does_not_lead_any_more_neither_writes_nor_asks():
    """Though something was asked for when it did."""
    fence, election = SaidOff(off=False), Appointment(leads=True)
    world = world_with(fence, election=election)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        election.leads = False
        calls, asked, reads = len(world.calls), len(fence.asked), len(world.reads)
        watched = world.loss.fleet.get("a0")
        assert watched is not None
        watched.turn_at = world.clock.now()
        watched.to_mark[PodMark("default", "web", "uid-web", "stuck")] = "why"
        assert world.loss.keeper.fencer is not None
        await world.loss.keeper.attempt("a0", 0)
        await world.loss.keeper.fencer.attempt("a0", 0)
        await world.loss.marker.attempt(PodMark("default", "web", "uid-web", "stuck"), 0)
        assert (len(world.calls), len(fence.asked), len(world.reads)) == (calls, asked, reads)


@pytest.mark.parametrize("why", ["first look", "deaf"])
async def test_of_a_node_of_which_nothing_is_known_that_is_said(why):
    world = world_with()
    if why == "first look":
        world.set_ready("a0", "False")
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(5 if why == "first look" else 100)
        world.lease_watch_broken = True
        await asyncio.sleep(0 if why == "first look" else 40)
        assert said_of(world, "web") == "LeaseNotRead"


def said_of(world: NodeLossWorld, name: str) -> str:
    scene = Scene(tuple(world.pods.values()), world.clock.now(), world.nodes["a0"])
    said = world.loss.prepare(scene, explain=False)
    assert said is not None
    finding = said.of(world.pods[name])
    assert finding is not None
    return finding.reason


async def test_a_renewal_that_no_look_has_seen_yet_keeps_its_pods():
    world = world_with()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        world.renew("a0")
        await asyncio.sleep(0)
        assert said_of(world, "web") == "NodeReady"


async def test_the_last_look_finds_another_node_under_its_name():
    """The watch of nodes has not told of it."""
    world = world_with()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        node = world.nodes["a0"]
        world.nodes["a0"] = replace(node, metadata=replace(node.metadata, uid="another"))
        await asyncio.sleep(200)
    assert world.gone() == {}


async def test_no_turn_is_given_before_it_is_known_whether_a_node_lives():
    settings = NodeLossSettings(after=10)
    world = NodeLossWorld(NodeLossMode(settings=settings))
    world.add_nodes(3)
    world.set_ready("a0", "False")
    world.fall_silent("a0")
    async with world.running():
        await asyncio.sleep(45)
        assert world.loss.fleet.lost[0].turn_at is None
        await asyncio.sleep(20)
        assert world.loss.fleet.lost[0].turn_at is not None


async def test_a_node_that_comes_back_while_its_note_is_written_is_not_given_up():
    """Its next loss would else count as given up, with neither turn nor look."""
    world = world_with(SaidOff())
    write = world.verbs["annotate"]

    async def slowly(call: Call) -> object:
        await asyncio.sleep(20)
        return await write(call)

    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.verbs["annotate"] = slowly
        while ("leases", "a0") not in world.reads:
            await asyncio.sleep(0.5)
        # The look is over, and what the fence has said is being noted. Its condition was True
        # all the time, so that the node does not change.
        world.silent.discard("a0")
        world.renew("a0")
        await asyncio.sleep(100)
        watched = world.loss.fleet.get("a0")
        assert watched is not None
        assert (watched.given_up, watched.turn_at) == (False, None)
    assert world.gone() == {}


async def test_who_leads_again_without_being_told_gives_up_what_had_its_turn():
    election = Switch()
    world = world_with(election=election)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.unreachable = True
        while world.loss.fleet.lost[0].turn_at is None:
            await asyncio.sleep(1)
        election.acts = False
        await asyncio.sleep(100)
        world.unreachable, election.acts = False, True
        await asyncio.sleep(30)
    assert graces(world, "db-0") == [None]


async def test_a_claim_that_may_not_be_read_binds_its_pod_and_holds_up_nobody():
    world = world_with()
    world.add("files", "a0", claim="disk")
    world.forbidden = {"persistentvolumeclaims"}
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 60)
        assert set(world.loss.describe()["stuck"]["pods"]) == {"default/db-0", "default/files"}


async def test_a_look_that_finds_life_takes_the_note_away():
    """The watch has told nothing of it yet, and nothing changes after that."""
    world = world_with()
    world.read_latency = 3.0
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        while ("leases", "a0") not in world.reads:
            await asyncio.sleep(0.5)
        world.renew("a0", told=False)
        world.silent.discard("a0")
        await asyncio.sleep(40)
    assert (world.note_on("a0"), world.gone()) == ({}, {})


async def test_a_condition_that_has_flipped_and_back_between_two_looks_starts_over():
    world = world_with()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(280)
        world.set_ready("a0", "False")
        await asyncio.sleep(290)
        assert world.gone() == {}
        await asyncio.sleep(30)
    assert world.gone().keys() == {"db-0", "web"}


async def test_a_pod_that_came_later_does_not_say_that_its_node_is_lost_before_its_own_time():
    world = world_with()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        world.add("late", "a0", created=world.clock.now())
        await asyncio.sleep(200)
        assert world.pods["late"].status.reason == ""


async def test_a_node_that_is_heard_of_again_after_it_was_given_up_is_looked_at_once_more():
    """The watch of nodes hangs, so that nothing tells that it is ready."""
    world = world_with()
    for index in range(60):
        world.add(f"pod-{index}", "a0")
    world.latency = 2.0
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        world.fall_silent("a0")
        while not world.deleted:
            await asyncio.sleep(1)
        world.deaf = True
        ready = world.nodes["a0"].status.conditions[0]
        conditions = (replace(ready, status="True", last_transition_time=world.clock.now()),)
        node = world.nodes["a0"]
        world.nodes["a0"] = replace(node, status=replace(node.status, conditions=conditions))
        world.silent.discard("a0")
        world.renew("a0")
        await asyncio.sleep(4)
        before = len(world.deleted)
        await asyncio.sleep(60)
        assert before < 60
        assert len(world.deleted) == before
