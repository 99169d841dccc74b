"""A node that falls silent: when its pods go, and what keeps them."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.decisions.node_loss.settings import LostZone, NodeLossSettings
from bailiff.kinds import Taint, Toleration
from bailiff.kinds.taint import UNREACHABLE
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.node_loss_world import NodeLossWorld
from tests.unit.worker.node_loss.scene import EARLIEST, LATEST, three_nodes

pytestmark = pytest.mark.looptime(start=0)


def with_another() -> NodeLossWorld:
    world = three_nodes()
    world.add("other", "a1")
    return world


async def test_its_pods_go_after_the_time_and_not_before():
    world = with_another()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(EARLIEST)
        assert world.gone() == {}
        await asyncio.sleep(LATEST - EARLIEST)
    assert world.gone().keys() == {"web"}
    assert world.events_on("a0") == ["DeletingAllPods"]
    assert world.events_on("web") == ["NodeNotReady", "NodeControllerEviction"]


async def test_the_pod_says_that_its_node_is_lost_before_it_is_deleted():
    world = with_another()
    world.lingering = True
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    assert world.pods["web"].status.reason == "NodeLost"
    assert world.pods["other"].status.reason == ""


async def test_a_pod_that_is_put_on_a_lost_node_has_its_time_there():
    world = with_another()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 40)
        assert world.gone().keys() == {"web"}
        world.add("late", "a0", created=world.clock.now())
        await asyncio.sleep(295)
        assert world.gone().keys() == {"web"}
        await asyncio.sleep(10)
    assert world.gone().keys() == {"web", "late"}


async def test_a_node_that_comes_back_in_time_is_left_alone():
    world = with_another()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(EARLIEST - 20)
        assert world.note_on("a0")["state"] == "Silent"
        world.come_back("a0")
        await asyncio.sleep(600)
    assert world.gone() == {}
    assert world.note_on("a0") == {}


async def test_what_is_unknown_to_its_controller_goes_by_the_same_time():
    world = with_another()
    async with world.running():
        await asyncio.sleep(20)
        world.fall_silent("a0")
        # As kube-controller-manager does after its grace period.
        await asyncio.sleep(50)
        world.set_ready("a0", "Unknown")
        await asyncio.sleep(280)
        assert world.gone() == {}
        await asyncio.sleep(30)
    assert world.gone().keys() == {"web"}


async def test_a_node_is_not_lost_whose_lease_is_renewed_though_it_is_said_to_be_unknown():
    world = with_another()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "Unknown")
        await asyncio.sleep(900)
    assert world.gone() == {}


async def test_a_kubelet_that_says_it_is_not_ready_loses_its_pods_though_it_renews():
    world = with_another()
    async with world.running():
        await asyncio.sleep(20)
        world.set_ready("a0", "False")
        await asyncio.sleep(295)
        assert world.gone() == {}
        await asyncio.sleep(15)
    assert world.gone().keys() == {"web"}


async def test_pods_of_daemon_sets_stay():
    world = with_another()
    world.add("agent", "a0", owner="DaemonSet")
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST + 60)
    assert world.gone().keys() == {"web"}
    assert world.pods["agent"].status.reason == "NodeLost"


@pytest.mark.parametrize("hours", [1, -1])
@pytest.mark.parametrize("at", [10, 200, 345])
async def test_a_clock_that_is_set_makes_nobody_go_early_or_late(hours, at):
    world = with_another()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(at)
        world.clock.step = timedelta(hours=hours)
        await asyncio.sleep(max(0, EARLIEST - at))
        assert world.gone() == {}
        await asyncio.sleep(LATEST + 5 - max(at, EARLIEST))
    assert world.gone().keys() == {"web"}


async def test_where_all_nodes_are_silent_nobody_goes_and_their_time_starts_over():
    world = with_another()
    async with world.running():
        world.fall_silent("a0", "a1", "a2")
        await asyncio.sleep(900)
        assert world.gone() == {}
        world.come_back("a1", "a2")
        await asyncio.sleep(EARLIEST)
        assert world.gone() == {}
        await asyncio.sleep(40)
    assert world.gone().keys() == {"web"}


async def test_a_zone_that_is_cut_off_loses_nobody():
    world = with_another()
    world.add_nodes(3, "b")
    async with world.running():
        world.fall_silent("a0", "a1", "a2")
        await asyncio.sleep(900)
    assert world.gone() == {}


async def test_nor_while_it_comes_back_one_after_the_other():
    """The time of all is over long since, and half of them are ready already."""
    world = with_another()
    names = world.add_nodes(20, "b")
    for name in names:
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent(*names)
        await asyncio.sleep(600)
        assert "since" not in world.note_on("b0")
        for name in names:
            world.come_back(name)
            await asyncio.sleep(10)
        assert world.gone() == {}
        # One of them alone has its whole time from then on.
        world.fall_silent("b0")
        await asyncio.sleep(EARLIEST)
        assert world.gone() == {}
        await asyncio.sleep(20)
    assert world.gone().keys() == {"on-b0"}


async def test_it_does_at_the_usual_rate_where_the_operator_says_so():
    world = NodeLossWorld(NodeLossMode(settings=NodeLossSettings(lost_zone=LostZone.NORMAL)))
    for name in world.add_nodes(3):
        world.add(f"on-{name}", name)
    world.add_nodes(3, "b")
    async with world.running():
        world.fall_silent("a0", "a1", "a2")
        await asyncio.sleep(420)
    assert sorted(world.gone()) == ["on-a0", "on-a1", "on-a2"]


async def test_nodes_of_a_zone_go_one_in_ten_seconds():
    world = NodeLossWorld()
    for name in world.add_nodes(20):
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent("a0", "a1", "a2", "a3", "a4")
        await asyncio.sleep(450)
    times = sorted(world.gone().values())
    assert len(times) == 5
    assert all(9 <= later - sooner <= 12 for sooner, later in itertools.pairwise(times))


async def test_too_many_nodes_of_a_small_zone_stop_it():
    world = NodeLossWorld()
    names = world.add_nodes(5)
    for name in names:
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent(*names[:3])
        await asyncio.sleep(900)
    assert world.gone() == {}


async def test_leases_that_are_not_heard_of_make_nobody_go():
    """The watch of Leases hangs, while that of nodes tells what it told."""
    world = with_another()
    world.add_node("virtual", "v", leased=False)
    async with world.running():
        await asyncio.sleep(20)
        world.lease_watch_broken = True
        await asyncio.sleep(900)
        assert world.worker.systems["node-loss"].complaints()
        world.lease_watch_broken = False
        await asyncio.sleep(200)
        assert not world.worker.systems["node-loss"].complaints()
    assert world.gone() == {}
    assert "NodeNotReady" not in [call.body.get("reason") for call in world.calls]


async def test_nobody_goes_before_the_node_was_looked_at_live():
    world = with_another()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(300)
        world.unreachable = True
        await asyncio.sleep(300)
        assert world.gone() == {}
        world.unreachable = False
        await asyncio.sleep(90)
    assert world.gone().keys() == {"web"}
    assert ("leases", "a0") in world.reads


async def test_a_lease_that_the_watch_has_not_told_of_saves_the_node():
    world = with_another()
    async with world.running():
        await asyncio.sleep(20)
        world.fall_silent("a0")
        await asyncio.sleep(EARLIEST - 20)
        world.renew("a0", told=False)
        await asyncio.sleep(40)
    assert world.gone() == {}


async def test_taints_that_evict_are_left_to_evict():
    world = with_another()
    async with world.running():
        await asyncio.sleep(20)
        world.fall_silent("a0")
        forever = Toleration(key=UNREACHABLE, operator="Exists")
        pod = world.pods["web"]
        world.put(replace(pod, spec=replace(pod.spec, tolerations=(forever,))))
        world.taint_node("a0", Taint(key=UNREACHABLE, effect="NoExecute"))
        await asyncio.sleep(900)
    assert world.gone() == {}
