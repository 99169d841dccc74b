"""Shadow mode on virtual time: what the in-tree controller does, against what we decide."""

import asyncio
import contextlib

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions.node_taints import CONDITION
from bailiff.kinds import PodStatus
from bailiff.worker import Comparison, ShadowActions, Watched, Worker, WorkerSettings
from tests.unit.worker.world import START, World, no_execute, tolerating

pytestmark = pytest.mark.looptime(start=0)


class Shadowed(World):
    """A cluster in which somebody else evicts."""

    def __init__(self):
        super().__init__()
        self.comparison = Comparison(self.clock)
        self.registry = CollectorRegistry()
        actions = ShadowActions(self.comparison.ours)
        self.worker = Worker(actions, self.clock, self.registry, WorkerSettings())

    @contextlib.asynccontextmanager
    async def running(self):
        self.node_watch.send(Replaced(tuple(self.nodes.values()), "1"))
        self.pod_watch.send(Replaced(tuple(self.pods.values()), "1"))
        evaluator, stop = self.worker.evaluator, asyncio.Event()
        self.comparison.look_at(evaluator.mirror, evaluator.finding, self.worker.metrics)
        pods = Watched(self.pod_watch, self.comparison)
        tasks = [
            asyncio.create_task(self.worker.run(pods, self.node_watch, stop)),
            asyncio.create_task(self.comparison.run()),
        ]
        await asyncio.sleep(0.001)
        yield
        stop.set()
        tasks[1].cancel()
        await tasks[0]

    def evicted_in_tree(self, name):
        pod = self.pods.pop(name)
        gone = msgspec.structs.replace(
            pod,
            metadata=msgspec.structs.replace(pod.metadata, deletion_timestamp=START),
            status=PodStatus(phase="Running", conditions=(CONDITION,)),
        )
        self.pod_watch.send(Changed(gone))
        self.pod_watch.send(Deleted(gone))

    def results(self):
        counts = self.comparison.report()["counts"]
        return {result: count for result, count in counts.items() if count}


@pytest.mark.parametrize(
    ("seconds", "evicted_at", "result"),
    [
        pytest.param(10, 10, "agreed", id="on time"),
        pytest.param(10, 13, "agreed", id="within the tolerance"),
        pytest.param(60, 20, "early", id="long before"),
        pytest.param(10, 40, "late", id="long after"),
        pytest.param(10, None, "missed", id="never"),
        pytest.param(None, 20, "extra", id="though tolerated for ever"),
        pytest.param(0, 0.5, "agreed", id="at once"),
    ],
)
async def test_each_pod_comes_to_one_result(seconds, evicted_at, result):
    world = Shadowed()
    world.taint("n1", no_execute())
    world.add_pod("pod", tolerating(seconds=seconds))
    async with world.running():
        if evicted_at is not None:
            await asyncio.sleep(evicted_at)
            world.evicted_in_tree("pod")
        await asyncio.sleep(120)
    assert world.results() == {result: 1}
    shown = [one["result"] for one in world.comparison.report()["disagreements"]]
    assert shown == ([] if result == "agreed" else [result])
    labels = {"result": result}
    assert world.registry.get_sample_value("bailiff_worker_shadow_pods_total", labels) == 1


async def test_a_shadow_writes_nothing():
    world = Shadowed()
    world.taint("n1", no_execute())
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(10)
    assert (world.requests, world.notes, world.annotated) == ([], [], [])


async def test_news_of_the_node_that_come_after_those_of_its_pod_make_no_disagreement():
    world = Shadowed()
    world.taint("n1")
    world.add_pod("plain")
    async with world.running():
        world.evicted_in_tree("plain")
        await asyncio.sleep(1)
        world.taint("n1", no_execute())
        await asyncio.sleep(60)
    assert world.results() == {"agreed": 1}


async def test_a_pod_that_somebody_else_deletes_comes_to_nothing():
    world = Shadowed()
    world.taint("n1", no_execute())
    world.add_pod("plain")
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(5)
        world.remove_pod("plain")
        world.remove_pod("patient")
        await asyncio.sleep(300)
    assert world.results() == {}


async def test_what_was_under_way_before_we_looked_is_passed_over():
    world = Shadowed()
    world.taint("n1", no_execute())
    pod = world.add_pod("plain", tolerating())
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=START)
    world.pods["plain"] = msgspec.structs.replace(
        pod, metadata=metadata, status=PodStatus(phase="Running", conditions=(CONDITION,))
    )
    async with world.running():
        world.pod_watch.send(Changed(world.pods["plain"]))
        await asyncio.sleep(60)
    assert world.results() == {}
