"""Who may be forced off a lost node, by whose word, and what becomes of all others."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.kinds import Taint, Toleration
from bailiff.kinds.meta import ObjectMeta
from bailiff.kinds.taint import UNREACHABLE
from bailiff.kinds.volume_claim import PersistentVolumeClaim, PersistentVolumeClaimSpec
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.unit.worker.node_loss.scene import (
    LATEST,
    OUT_OF_SERVICE,
    graces,
    taint_by_hand,
    world_with,
)

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.looptime(start=0)


def stuck(world: NodeLossWorld) -> set[str]:
    return set(world.loss.describe()["stuck"]["pods"])


async def test_without_proof_they_are_deleted_and_the_one_that_hangs_is_told_of():
    world = world_with()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 60)
        assert (graces(world, "db-0"), graces(world, "web")) == ([None], [None])
        assert stuck(world) == {"default/db-0"}
        assert world.events_on("db-0").count("NodeLossStuck") == 1
        value = world.registry.get_sample_value("bailiff_worker_node_loss_stuck_pods")
        assert value == 1


async def test_a_taint_by_hand_releases_them():
    world = world_with()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 60)
        taint_by_hand(world, "a0")
        await asyncio.sleep(5)
        assert (graces(world, "db-0"), graces(world, "web")) == ([None, 0], [None, 0])


async def test_a_fence_that_says_off_has_them_go_at_once():
    fence = SaidOff()
    world = world_with(fence)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    assert (graces(world, "db-0"), graces(world, "web")) == ([0], [0])
    assert fence.asked == ["a0"]
    assert world.nodes["a0"].spec.taints == ()


async def test_where_it_is_allowed_the_node_is_tainted_until_it_is_back():
    world = world_with(SaidOff(), taints_fenced=True)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
        assert [one.key for one in world.nodes["a0"].spec.taints] == [OUT_OF_SERVICE]
        assert world.note_on("a0")["fenced"] == "test"
        world.come_back("a0")
        await asyncio.sleep(10)
    assert world.nodes["a0"].spec.taints == ()
    assert world.note_on("a0") == {}


async def test_a_taint_of_somebody_else_is_left_alone():
    world = world_with(SaidOff(), taints_fenced=True)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(100)
        taint_by_hand(world, "a0")
        await asyncio.sleep(300)
        world.come_back("a0")
        await asyncio.sleep(10)
    assert [one.value for one in world.nodes["a0"].spec.taints] == ["nodeshutdown"]


async def test_a_fence_that_is_not_sure_is_asked_again():
    fence = SaidOff(off=False)
    world = world_with(fence)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 100)
        assert graces(world, "db-0") == [None]
        fence.off = True
        await asyncio.sleep(130)
        assert graces(world, "db-0") == [None, 0]


@pytest.mark.parametrize("taints", [True, False])
async def test_off_and_alive_is_a_contradiction_by_which_nobody_goes(taints):
    """Its kubelet is not ready, and renews its Lease: what is off is another machine."""
    world = world_with(SaidOff(), taints_fenced=taints)
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(900)
        assert world.events_on("a0").count("NodeLossContradiction") == 1
        assert "contradiction" in world.loss.describe()["lost"]["nodes"]["a0"]
        # One node, which may be hostile, makes no worker unready.
        assert not world.loss.complaints()
        # Nor when it falls silent: the fence speaks of another machine still.
        world.fall_silent("a0")
        await asyncio.sleep(600)
    assert world.gone() == {}
    assert world.nodes["a0"].spec.taints == ()


async def test_a_taint_by_hand_on_a_node_that_lives_forces_nobody():
    """Not even in the moment after it was put there."""
    world = world_with()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(20)
        world.mark_terminating("db-0")
        taint_by_hand(world, "a0")
        await asyncio.sleep(600)
        assert graces(world, "db-0") == []
        # Once it gives no sign of life any more, the person who has said so is right.
        world.fall_silent("a0")
        await asyncio.sleep(100)
        assert graces(world, "db-0") == [0]


async def test_nobody_goes_by_the_fence_before_the_node_was_looked_at():
    """It comes to life as the fence has answered; a pod of it is being deleted already."""
    fence = SaidOff()
    world = world_with(fence)
    # The pods of a lost node are looked at anew every ten seconds.
    world.read_latency = 12.0
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.mark_terminating("db-0")
        while not fence.asked:
            await asyncio.sleep(0.5)
        world.renew("a0", told=False)
        await asyncio.sleep(60)
    assert world.gone() == {}


async def test_a_taint_of_ours_without_a_note_is_taken_away_too():
    world = world_with(SaidOff(), taints_fenced=True)
    world.taint_node("a0", Taint(key=OUT_OF_SERVICE, value="bailiff", effect="NoSchedule"))
    async with world.running():
        await asyncio.sleep(30)
    assert world.nodes["a0"].spec.taints == ()


async def test_a_node_that_comes_to_life_after_it_was_given_up_keeps_who_has_not_gone():
    world = world_with(SaidOff(off=False))
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 20)
        world.come_back("a0")
        await asyncio.sleep(1)
        world.add("late", "a0")
        await asyncio.sleep(200)
    assert "late" not in world.gone()
    assert stuck(world) == set()


@pytest.mark.parametrize(("mode", "needs"), [("ReadWriteOnce", True), ("ReadWriteMany", False)])
async def test_a_claim_for_one_node_needs_proof(mode, needs):
    world = world_with()
    world.claims["disk"] = PersistentVolumeClaim(
        metadata=ObjectMeta(name="disk", namespace="default"),
        spec=PersistentVolumeClaimSpec(access_modes=(mode,)),
    )
    world.add("files", "a0", claim="disk")
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 60)
        assert ("default/files" in stuck(world)) is needs


async def test_where_taints_evict_the_fence_releases_what_they_have_deleted_and_nobody_else():
    """As in most clusters: the node controller taints, taint eviction deletes, and a pod hangs."""
    world = world_with(SaidOff(), taints_fenced=True)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(60)
        world.set_ready("a0", "Unknown")
        forever = Toleration(key=UNREACHABLE, operator="Exists")
        for name in ("db-0", "web"):
            pod = world.pods[name]
            world.put(replace(pod, spec=replace(pod.spec, tolerations=(forever,))))
        world.taint_node("a0", Taint(key=UNREACHABLE, effect="NoExecute"))
        world.mark_terminating("db-0")
        await asyncio.sleep(LATEST)
    assert (graces(world, "db-0"), graces(world, "web")) == ([0], [])
    assert [one.key for one in world.nodes["a0"].spec.taints] == [UNREACHABLE, OUT_OF_SERVICE]
