"""Long work in steps: what others do in between counts."""

import asyncio

import pytest

from bailiff.cluster import Deleted, Replaced, Unreadable
from bailiff.kinds import ObjectMeta
from bailiff.worker.mirror.slices import SLICE
from tests.harness.clocks import ManualClock
from tests.harness.evaluating import Evaluating
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating
from tests.harness.worlds.world import World, tainted

CROWD = 2 * SLICE + 10


def crowd(node="n1", count=CROWD):
    return tuple(pod_of(f"p{n}", node, tolerating(seconds=60), uid=f"u{n}") for n in range(count))


class Scene(Evaluating):
    """An evaluator, stepped by hand."""

    def __init__(self, pods, *nodes):
        super().__init__(ManualClock())
        self.tell_node(Replaced(nodes, "1"))
        self.tell_pod(Replaced(pods, "1"))


def test_a_node_of_very_many_pods_is_worked_off_in_steps_and_counts_as_unread_till_the_last():
    scene = Scene(crowd(), node_of("n1", no_execute()))
    counts = []
    while scene.evaluator.is_behind:
        scene.evaluator.step()
        counts.append((len(scene.pending), scene.evaluator.is_behind))
    assert counts == [(SLICE, True), (2 * SLICE, True), (CROWD, False)]
    # Their own marks are settled by then.
    assert scene.evaluator.backlog == 0


def test_a_node_whose_marks_are_forgotten_half_way_is_looked_at_no_further():
    scene = Scene(crowd(), node_of("n1", no_execute()))
    scene.evaluator.step()
    scene.evaluator.forget_marks()
    assert (scene.evaluator.backlog, scene.through()) == (0, 0)
    assert len(scene.pending) == SLICE


def test_a_node_that_is_untainted_half_way_leaves_nobody_pending():
    scene = Scene(crowd(), node_of("n1", no_execute()))
    scene.evaluator.step()
    scene.tell_node(Replaced((node_of("n1"),), "2"))
    scene.evaluator.step()
    # What is looked at now is looked at by what the node is now.
    assert len(scene.pending) == SLICE
    scene.through()
    assert len(scene.pending) == 0
    assert len(scene.gone_back_on) == SLICE


def test_pods_that_went_or_moved_half_way_are_not_entered():
    pods = crowd()
    scene = Scene(pods, node_of("n1", no_execute()), node_of("n2"))
    scene.evaluator.step()
    first, last = pods[0], pods[-1]
    scene.tell_pod(Deleted(first))
    moved = pod_of(last.metadata.name, "n2", uid=last.metadata.uid)
    scene.tell_pod(Replaced((*pods[1:-1], moved), "2"))
    scene.through()
    assert scene.pending.get(first.metadata.uid) is None
    assert scene.pending.get(last.metadata.uid) is None
    assert len(scene.pending) == CROWD - 2
    assert scene.gone_back_on == []


def test_a_node_that_goes_half_way_cancels_what_was_entered():
    scene = Scene(crowd(), node_of("n1", no_execute()))
    scene.evaluator.step()
    scene.tell_node(Deleted(node_of("n1")))
    scene.through()
    assert len(scene.pending) == 0
    assert {why for _, why in scene.gone_back_on} == {
        "node n1 is gone, pod garbage collection owns its pods"
    }


def unreadable(name, namespace=""):
    meta = ObjectMeta(name=name, namespace=namespace, resource_version="9")
    return Unreadable(meta, "$.spec.taints[0].timeAdded: year 0 is out of range")


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("how", ["node event", "node list", "pod event", "pod list"])
async def test_nobody_is_evicted_by_what_was_known_before_an_object_could_not_be_decoded(how):
    world = tainted()
    pod = world.add_pod("plain", tolerating(seconds=60))
    node = world.nodes["n1"]
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.worker.pending) == 1
        match how:
            case "node event":
                world.node_watch.send(unreadable("n1"))
            case "node list":
                world.node_watch.send(Replaced((), "2", (unreadable("n1"),)))
            case "pod event":
                world.pod_watch.send(unreadable("plain", "default"))
            case "pod list":
                world.pod_watch.send(Replaced((), "2", (unreadable("plain", "default"),)))
        await asyncio.sleep(500)
        assert world.deletions() == {}
        world._put_node(node)
        world.put(pod)
        await asyncio.sleep(100)
    # It can be decoded again, and nothing has been forgotten.
    assert set(world.deletions()) == {"plain"}
    if how.startswith("node"):
        assert "cannot be decoded" in world.notes_on("plain")[0]


@pytest.mark.looptime(start=0)
async def test_the_evaluator_begins_when_the_list_that_was_missing_is_empty():
    world = World()
    world.put(pod_of("a", "n1", uid="u"))
    async with world.running():
        await asyncio.sleep(1)
        assert world.worker.evaluator.backlog == 0
    world = World()
    stop = asyncio.Event()
    working = asyncio.create_task(world.worker.run(world.pod_watch, world.node_watch, stop))
    world.pod_watch.send(Replaced((pod_of("a", "n1", uid="u"),), "1"))
    await asyncio.sleep(1)
    assert world.worker.evaluator.backlog == 1
    world.node_watch.send(Replaced((), "1"))
    await asyncio.sleep(1)
    assert world.worker.evaluator.backlog == 0
    stop.set()
    await working


@pytest.mark.looptime(start=0)
async def test_the_evaluator_begins_when_the_last_slice_of_the_first_list_is_there():
    world = World()
    world.taint("n1", no_execute())
    for n in range(SLICE + 1):
        world.pods[f"p{n}"] = pod_of(f"p{n}", "n1", tolerating(seconds=60), uid=f"u{n}")
    async with world.running():
        await asyncio.sleep(1)
        assert len(world.worker.pending) == SLICE + 1
