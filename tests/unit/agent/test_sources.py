"""Who measures: the kubelet, the node itself, or both."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from bailiff.agent.kubelet import Kubelet, is_measured_after
from bailiff.agent.log import Log
from bailiff.agent.own_source import FresherMemory
from bailiff.agent.reading import Reading, ReadingError
from bailiff.agent.standing import NEVER_READ, Standing
from bailiff.cluster import UnreachableError
from bailiff.decisions.text import describe_time
from bailiff.kinds.stats import FsStats, MemoryStats, NodeStats, PodReference, PodStats
from tests.harness.clocks import START, LoopClock

if TYPE_CHECKING:
    from bailiff.cluster.wire import Wire

pytestmark = pytest.mark.looptime(start=0)


class MadeUpWire:
    """A kubelet's answers by path.

    Attributes:
        answers: JSON of each path; what is raised of others.
        behind: seconds by which what it has measured is old.
    """

    def __init__(self, clock: LoopClock) -> None:
        self._clock = clock
        self.answers: dict[str, object] = {}
        self.behind = 0.0
        self.asked: list[str] = []

    async def send(self, request, within=None):
        self.asked.append(request.path)
        answer = self.answers.get(request.path, UnreachableError("no connection"))
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer).encode()

    def measures(self, free: int = 500) -> None:
        at = self._clock.now() - timedelta(seconds=self.behind)
        time = describe_time(at.replace(microsecond=0))
        disk = {"time": time, "availableBytes": free, "capacityBytes": 1000}
        memory = {"time": time, "availableBytes": 1, "workingSetBytes": 999}
        pod = {
            "podRef": {"name": "a", "namespace": "n", "uid": "1"},
            "memory": {"time": time, "workingSetBytes": 7},
            "ephemeral-storage": {"usedBytes": 3},
        }
        self.answers["/stats/summary"] = {
            "node": {
                "nodeName": "node",
                "memory": memory,
                "fs": disk,
                "runtime": {"imageFs": disk},
            },
            "pods": [pod],
        }


class MadeUpOwn:
    """What the node itself measures."""

    def __init__(self) -> None:
        self.pods: tuple[PodStats, ...] = (
            PodStats(
                pod_ref=PodReference(name="a", namespace="n", uid="1"),
                memory=MemoryStats(working_set_bytes=42),
            ),
        )

    async def read(self, pods):
        memory = MemoryStats(available_bytes=600, working_set_bytes=400)
        node = NodeStats(node_name="node", memory=memory, fs=FsStats(available_bytes=9))
        return Reading(node, lambda: self.pods, without_huge_pages=True)

    def has_gone(self, uid):
        return uid != "1"


@pytest.fixture
def clock():
    return LoopClock()


def kubelet_of(wire, clock):
    return Kubelet(cast("Wire", wire), "node", clock)


def fresher(wire, own, clock):
    standing = Standing("node", "acting", clock)
    return FresherMemory(
        kubelet_of(wire, clock), own, standing, clock, Log(io.StringIO())
    ), standing


async def running(source, seconds: float) -> None:
    task = asyncio.create_task(source.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_memory_is_the_node_s_and_disks_are_the_kubelet_s(clock):
    wire = MadeUpWire(clock)
    wire.measures()
    source, _ = fresher(wire, MadeUpOwn(), clock)
    await running(source, 1)
    reading = await source.read(())
    assert reading.node.memory.available_bytes == 600
    assert reading.node.fs.available_bytes == 500
    assert reading.without_huge_pages
    (pod,) = reading.pods()
    assert pod.memory.working_set_bytes == 42
    assert pod.ephemeral_storage.used_bytes == 3


async def test_a_pod_without_a_cgroup_uses_nothing_and_is_not_taken_for_unmeasured(clock):
    wire, own = MadeUpWire(clock), MadeUpOwn()
    wire.measures()
    own.pods = ()
    source, _ = fresher(wire, own, clock)
    await running(source, 1)
    (pod,) = (await source.read(())).pods()
    assert pod.memory.working_set_bytes == 0


async def test_no_round_waits_for_a_kubelet_and_after_a_minute_it_is_told_of(clock):
    wire = MadeUpWire(clock)
    wire.measures()
    source, standing = fresher(wire, MadeUpOwn(), clock)
    task = asyncio.create_task(source.run())
    await asyncio.sleep(1)
    wire.answers.clear()
    await asyncio.sleep(50)
    assert (await source.read(())).node.fs is not None
    await asyncio.sleep(30)
    # They stay as they were, and get old: so conditions stay, too.
    reading = await source.read(())
    assert reading.node.fs is not None
    assert reading.node.memory.available_bytes == 600
    assert any("disks stand still" in one for one in standing.complaints)
    wire.measures()
    await asyncio.sleep(10)
    assert (await source.read(())).node.fs is not None
    assert standing.complaints == [NEVER_READ]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_after_a_reclaim_a_summary_of_before_is_not_taken_for_news(clock):
    wire = MadeUpWire(clock)
    wire.behind = 8.0
    wire.measures(free=10)
    kubelet = kubelet_of(wire, clock)

    async def measure_later() -> None:
        await asyncio.sleep(15)
        wire.behind = 0.0
        wire.measures(free=700)

    later = asyncio.create_task(measure_later())
    reading = await kubelet.read_anew(())
    assert reading.node.fs is not None
    assert reading.node.fs.available_bytes == 700
    assert 15 <= clock.elapsed() < 17
    await later


@pytest.mark.parametrize(("told", "is_after"), [(0, False), (1, True), (-1, False)])
def test_what_was_measured_in_the_second_of_the_question_may_be_of_before(told, is_after):
    """A kubelet cuts its times off to whole seconds."""
    asked = START + timedelta(seconds=0.95)
    disk = FsStats(time=START + timedelta(seconds=told))
    assert is_measured_after(NodeStats(fs=disk), asked) is is_after


async def test_a_kubelet_that_measures_nothing_anew_is_no_reason_to_evict(clock):
    wire = MadeUpWire(clock)
    wire.behind = 8.0
    wire.measures()
    with pytest.raises(ReadingError, match="nothing was measured since"):
        await kubelet_of(wire, clock).read_anew(())
    assert 60 <= clock.elapsed() < 62


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"node": {"nodeName": "another"}}, "is of the node 'another'"),
        ({"node": 7}, "is no summary"),
        (UnreachableError("no connection"), "no connection"),
    ],
)
async def test_what_is_no_summary_of_this_node_is_no_reading(clock, answer, why):
    wire = MadeUpWire(clock)
    wire.answers["/stats/summary"] = answer
    with pytest.raises(ReadingError, match=why):
        await kubelet_of(wire, clock).read(())


async def test_pods_and_configuration(clock):
    wire = MadeUpWire(clock)
    meta = {"name": "a", "namespace": "n", "uid": "1", "resourceVersion": "1"}
    wire.answers["/pods"] = {"kind": "PodList", "items": [{"metadata": meta}]}
    told = {"kubeletconfig": {"evictionHard": {"memory.available": "1Gi"}}}
    wire.answers["/configz"] = told
    kubelet = kubelet_of(wire, clock)
    assert [one.metadata.uid for one in await kubelet.pods()] == ["1"]
    assert (await kubelet.configuration()).eviction_hard == {"memory.available": "1Gi"}
    wire.answers["/pods"] = []
    with pytest.raises(ReadingError):
        await kubelet.pods()
