"""When pods go: the rules of node taints on virtual time."""

import asyncio

import msgspec
import pytest

from bailiff.kinds import Taint
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)


async def test_untolerated_pods_go_at_once_timed_ones_in_time_the_others_stay():
    world = World()
    world.taint("n1")
    world.add_pod("plain")
    world.add_pod("patient", tolerating(seconds=10))
    world.add_pod("stoic", tolerating())
    world.add_pod("elsewhere", node="n2")
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(600)
    assert world.deletions() == {"plain": 0.0, "patient": 10.0}
    assert sorted(world.pods) == ["elsewhere", "stoic"]


async def test_nothing_goes_before_both_nodes_and_pods_have_been_listed():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("plain")
    stop = asyncio.Event()
    task = asyncio.create_task(world.worker.run(world.pod_watch, world.node_watch, stop))
    await asyncio.sleep(600)
    assert world.deleted == []
    stop.set()
    await task


async def test_untainting_in_time_cancels_and_says_so():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        world.taint("n1")
        await asyncio.sleep(600)
    assert world.deleted == []
    assert world.notes_on("patient") == [
        "Cancelling deletion of Pod default/patient: the node has no NoExecute taint"
    ]


async def test_tainting_again_starts_anew():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        world.taint("n1")
        await asyncio.sleep(100)
        world.taint("n1", no_execute())
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 115.0}


async def test_other_changes_of_node_and_pod_leave_the_timer_alone():
    world = World()
    world.taint("n1", no_execute())
    pod = world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        for _ in range(9):
            await asyncio.sleep(1)
            world.taint("n1", no_execute(), Taint(key="x", effect="NoSchedule"))
            world.put(pod)
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 10.0}


@pytest.mark.parametrize("node", ["n2", ""], ids=["another node", "no node"])
async def test_a_timer_ends_with_the_binding_it_was_set_for(node):
    world = World()
    world.taint("n1", no_execute())
    world.taint("n2")
    pod = world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        spec = msgspec.structs.replace(pod.spec, node_name=node)
        world.put(msgspec.structs.replace(pod, spec=spec))
        await asyncio.sleep(600)
    assert world.deleted == []
