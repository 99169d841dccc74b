"""Shadow mode on virtual time: what the in-tree controller does, against what we decide."""

import asyncio
import contextlib
from datetime import timedelta

import msgspec
import pytest

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions.node_taints import TERMS
from bailiff.kinds import PodStatus
from bailiff.worker import Comparison, ShadowActions, Shard, Watched
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import World

assert TERMS.condition is not None
CONDITION = TERMS.condition

pytestmark = pytest.mark.looptime(start=0)


class Shadowed(World):
    """A cluster in which somebody else evicts."""

    def __init__(self, **settings):
        super().__init__(**settings)

    def worker_actions(self):
        self.comparison = Comparison(self.clock)
        return ShadowActions(self.comparison)

    @contextlib.asynccontextmanager
    async def running(self):
        self.node_watch.send(Replaced(tuple(self.nodes.values()), "1"))
        self.pod_watch.send(Replaced(tuple(self.pods.values()), "1"))
        stop = asyncio.Event()
        self.comparison.look_at(self.worker)
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

    async def first_look(self):
        """Taints that come before it count as there before us."""
        assert self.comparison.report()["since"] is None
        await asyncio.sleep(0.1)
        assert self.comparison.report()["since"] is not None

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
    world.taint("n1")
    world.add_pod("pod", tolerating(seconds=seconds))
    async with world.running():
        await world.first_look()
        world.taint("n1", no_execute())
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


async def test_by_an_untimed_taint_that_was_there_before_we_looked_nobody_is_early():
    """Nobody knows since when it was there: upstream may have seen it long before us."""
    world = Shadowed()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=100))
    world.add_pod("newcomer", tolerating(seconds=100), tolerating("other", seconds=50))
    async with world.running():
        await asyncio.sleep(20)
        world.evicted_in_tree("patient")
        await asyncio.sleep(10)
        assert world.results() == {}
        # What came later is as well known to us as to anybody.
        world.taint("n1", no_execute("other"))
        await asyncio.sleep(10)
        world.evicted_in_tree("newcomer")
        await asyncio.sleep(60)
    assert world.results() == {"early": 1}


async def test_pods_on_nodes_of_other_shards_come_to_nothing():
    world = Shadowed(shards=(Shard(0, 2),))
    ours = next(f"n{n}" for n in range(20) if Shard(0, 2).owns(f"n{n}"))
    theirs = next(f"n{n}" for n in range(20) if Shard(1, 2).owns(f"n{n}"))
    for node in (ours, theirs):
        world.taint(node, no_execute())
        world.add_pod(f"on-{node}", node=node)
        world.add_pod(f"stoic-on-{node}", tolerating(), node=node)
    async with world.running():
        for name in list(world.pods):
            world.evicted_in_tree(name)
        await asyncio.sleep(60)
    assert world.results() == {"agreed": 1, "extra": 1}


async def test_a_deed_long_after_the_deadline_is_late_though_we_had_not_acted_yet():
    world = Shadowed()
    world.taint("n1", no_execute(time_added=START - timedelta(seconds=100)))
    async with world.running():
        world.worker.executor.stop()
        world.add_pod("patient", tolerating(seconds=10))
        await asyncio.sleep(20)
        world.evicted_in_tree("patient")
        await asyncio.sleep(1)
    assert world.results() == {"late": 1}


async def test_pods_that_are_gone_are_not_remembered():
    world = Shadowed()
    world.taint("n1")
    for name in ("agreed", "extra", "missed", "unseen"):
        world.add_pod(name, *([tolerating()] if name == "extra" else []))
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(1)
        for name in ("agreed", "extra"):
            world.evicted_in_tree(name)
        await asyncio.sleep(120)
        assert world.results() == {"agreed": 1, "extra": 1, "missed": 2}
        # Some leave while the watch is broken: the next list does not have them.
        world.remove_pod("missed")
        world.pod_watch.send(Replaced((), "2"))
        await asyncio.sleep(120)
    assert world.comparison.remembered == 0
