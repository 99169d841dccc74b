"""When pods go: the rules of node taints on virtual time."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from bailiff.kinds import Taint
from tests.unit.worker.world import START, World, no_execute, tolerating

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


async def test_time_counts_from_when_the_taint_was_added():
    world = World()
    world.taint("n1", no_execute(time_added=START - timedelta(seconds=60)))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 40.0}


async def test_time_counts_from_when_the_pod_was_bound_if_that_was_later():
    world = World()
    world.taint("n1", no_execute(time_added=START - timedelta(seconds=60)))
    pod = world.add_pod("newcomer", tolerating(seconds=100))
    metadata = msgspec.structs.replace(pod.metadata, creation_timestamp=START)
    world.put(msgspec.structs.replace(pod, metadata=metadata))
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == {"newcomer": 100.0}


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


@pytest.mark.parametrize(
    ("change_at", "seconds", "gone_at"),
    [
        pytest.param(5, 60, 60.0, id="lengthened"),
        pytest.param(5, 8, 8.0, id="shortened"),
        pytest.param(5, 3, 5.0, id="shortened into the past"),
        pytest.param(5, 0, 5.0, id="to nothing"),
    ],
)
async def test_a_changed_toleration_moves_the_deadline(change_at, seconds, gone_at):
    world = World()
    world.taint("n1", no_execute())
    pod = world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(change_at)
        spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(seconds=seconds),))
        world.put(msgspec.structs.replace(pod, spec=spec))
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": gone_at}


async def test_a_second_taint_with_a_shorter_toleration_brings_the_deadline_forward():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=100), tolerating("other", seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        world.taint("n1", no_execute(), no_execute("other"))
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 15.0}


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


@pytest.mark.parametrize("step", [timedelta(hours=1), timedelta(hours=-1)], ids=["on", "back"])
async def test_a_step_of_the_wall_clock_neither_evicts_early_nor_stalls(step):
    world = World()
    world.taint("n1", no_execute())
    pod = world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(5)
        world.clock.step = step
        world.put(pod)
        await asyncio.sleep(1)
        world.taint("n1", no_execute())
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 100.0}


async def test_a_pod_of_the_same_name_is_not_evicted_by_the_old_ones_timer():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("db-0", tolerating(seconds=10), uid="old")
    async with world.running():
        await asyncio.sleep(5)
        world.remove_pod("db-0")
        world.add_pod("db-0", tolerating(), uid="new")
        await asyncio.sleep(600)
    assert world.deleted == []
    assert world.pods["db-0"].metadata.uid == "new"


async def test_node_gone_cancels_and_says_so():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        world.remove_node("n1")
        await asyncio.sleep(600)
    assert world.deleted == []
    why = "node n1 is gone, pod garbage collection owns its pods"
    assert world.notes_on("patient") == [f"Cancelling deletion of Pod default/patient: {why}"]


async def test_finished_and_terminating_pods_are_left_alone():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("done", phase="Succeeded")
    going = world.add_pod("going", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        metadata = msgspec.structs.replace(going.metadata, deletion_timestamp=START)
        world.put(msgspec.structs.replace(going, metadata=metadata))
        await asyncio.sleep(600)
    assert world.deleted == []
    assert world.notes == []


async def test_a_pod_that_goes_all_the_same_is_never_said_to_be_cancelled():
    world = World()
    world.taint("n1", no_execute())
    moved = world.add_pod("moved", tolerating(seconds=10), tolerating("other"))
    world.add_pod("expelled", tolerating(seconds=10))
    world.add_pod("deleted", tolerating(seconds=10), tolerating("other"))
    async with world.running():
        spec = msgspec.structs.replace(moved.spec, tolerations=(tolerating(seconds=20),))
        world.put(msgspec.structs.replace(moved, spec=spec))
        world.remove_pod("deleted")
        await asyncio.sleep(5)
        world.taint("n1", no_execute(), no_execute("other"))
        await asyncio.sleep(600)
    assert set(world.deletions()) == {"moved", "expelled"}
    assert not [message for _, message in world.notes if message.startswith("Cancelling")]


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
