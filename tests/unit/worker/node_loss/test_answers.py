"""What a fence says, late, never, or of before: who waits for it, and what it is believed for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.kinds import Taint
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.unit.worker.node_loss.scene import (
    LATEST,
    OUT_OF_SERVICE,
    graces,
    world_with,
)

if TYPE_CHECKING:
    from bailiff.decisions.node_loss.facts import OffProof

pytestmark = pytest.mark.looptime(start=0)


class Hangs(SaidOff):
    """A fence that answers of no machine but one."""

    def __init__(self, but: str) -> None:
        super().__init__()
        self._but = but

    async def ask(self, node: str) -> OffProof:
        if node != self._but:
            await asyncio.sleep(300)
        return await super().ask(node)


async def test_controllers_that_hang_hold_up_nobody():
    """Not the notes of other nodes, nor their turns, nor the questions about them."""
    settings = NodeLossSettings(rate=10)
    world = NodeLossWorld(NodeLossMode(fence=Hangs("b9"), settings=settings))
    for name in (*world.add_nodes(30, "a"), *world.add_nodes(30, "b")):
        world.add(f"on-{name}", name)
    world.lingering = True
    async with world.running():
        world.fall_silent(*[f"a{index}" for index in range(12)])
        await asyncio.sleep(60)
        world.fall_silent("b9")
        await asyncio.sleep(60)
        assert world.note_on("b9")["state"] == "Silent"
        await asyncio.sleep(280)
        assert len(world.gone()) == 12
        await asyncio.sleep(40)
    assert graces(world, "on-b9") == [0]


async def test_a_taint_of_ours_goes_when_the_node_lives_though_it_is_not_ready():
    world = world_with(SaidOff(), taints_fenced=True)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        assert [one.key for one in world.nodes["a0"].spec.taints] == [OUT_OF_SERVICE]
        world.set_ready("a0", "False")
        world.silent.discard("a0")
        await asyncio.sleep(60)
        assert world.nodes["a0"].spec.taints == ()
        assert world.note_on("a0")["distrust"]


async def test_nobody_writes_a_taint_on_a_version_that_has_changed():
    """A taint that somebody puts there in this moment would be lost, since a patch has them all."""
    world = world_with(SaidOff(), taints_fenced=True)
    world.read_latency = 5.0
    theirs = Taint(key="theirs", effect="NoSchedule")

    async def meanwhile() -> None:
        while ("leases", "a0") not in world.reads:
            await asyncio.sleep(0.1)
        world.taint_node("a0", theirs)

    async with world.running():
        world.fall_silent("a0")
        task = asyncio.create_task(meanwhile())
        await asyncio.sleep(LATEST + 40)
        await task
    assert [one.key for one in world.nodes["a0"].spec.taints] == ["theirs", OUT_OF_SERVICE]


async def test_a_shutdown_does_not_wait_for_an_answer():
    world = world_with(Hangs("nobody"))
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        before = world.clock.monotonic()
    assert world.clock.monotonic() - before < 30


class Slow(SaidOff):
    """A fence that says what was so when it was asked."""

    async def ask(self, node: str) -> OffProof:
        answer = await super().ask(node)
        await asyncio.sleep(20)
        return answer


async def test_an_answer_that_comes_after_the_node_is_back_says_nothing_of_its_next_loss():
    fence = Slow()
    world = world_with(fence)
    async with world.running():
        world.fall_silent("a0")
        while not fence.asked:
            await asyncio.sleep(1)
        fence.off = False
        world.come_back("a0")
        await asyncio.sleep(100)
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 40)
    assert graces(world, "db-0") == [None]


async def test_a_machine_that_was_switched_on_again_is_not_taken_for_another_one():
    """Its kubelet is not ready yet when it renews; later it is switched off once more."""
    fence = SaidOff()
    world = world_with(fence)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        fence.off = False
        world.set_ready("a0", "False")
        world.silent.discard("a0")
        await asyncio.sleep(60)
        assert world.loss.describe()["lost"]["nodes"]["a0"].get("contradiction") is None
        world.add("db-1", "a0", owner="StatefulSet")
        fence.off = True
        world.fall_silent("a0")
        await asyncio.sleep(700)
    assert world.events_on("a0").count("NodeLossContradiction") == 0
    assert graces(world, "db-1")[-1] == 0


async def test_off_is_believed_of_a_node_that_gave_a_sign_of_life_just_before():
    """It was not ready for long, and has renewed its Lease until it was switched off."""
    fence = SaidOff(off=False)
    world = world_with(fence)
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(260)
        fence.off = True
        while not fence.asked:
            await asyncio.sleep(0.1)
            if world.clock.monotonic() > 318:
                world.silent.add("a0")
        await asyncio.sleep(20)
        assert graces(world, "db-0") == []
        await asyncio.sleep(60)
    assert graces(world, "db-0") == [0]
    assert world.events_on("a0").count("NodeLossContradiction") == 0


async def test_who_resumes_the_lead_asks_the_fence_again():
    fence, election = SaidOff(off=False), Appointment(leads=True)
    world = world_with(fence, election=election)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        assert graces(world, "db-0") == [None]
        election.leads = False
        await asyncio.sleep(400)
        fence.off = True
        election.appoint()
        await asyncio.sleep(60)
    assert graces(world, "db-0") == [None, 0]
