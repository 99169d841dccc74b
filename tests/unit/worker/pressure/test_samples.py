"""A kubelet hands out what it has measured last, which may tell of pods that are gone by now."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.cluster.kubelets import SummaryRead
from bailiff.cluster.kubelets.summaries import decode_summary
from bailiff.kinds import Node, Pod
from tests.harness.clocks import START
from tests.harness.kinds import pod_of
from tests.harness.worlds.pressure_world import PressureWorld, configured, mode_with
from tests.harness.worlds.world import YESTERDAY

pytestmark = pytest.mark.looptime(start=0)

# Seconds from one measurement to the next, as of cAdvisor.
EVERY = 15
SOFT = {
    "evictionHard": {"memory.available": "50Mi"},
    "evictionSoft": {"memory.available": "500Mi"},
    "evictionSoftGracePeriod": {"memory.available": "10s"},
}


class Sampled(PressureWorld):
    """Measured every 15 s; pods that are deleted use their memory until they are gone.

    Attributes:
        ends_in: seconds that a pod takes to be gone.
    """

    def __init__(self, ends_in: float, phase: float = 0, **settings: Any) -> None:
        super().__init__(**settings)
        self.lingering, self.ends_in, self.phase = True, ends_in, phase
        self.sample: dict[str, Any] = {}
        self.kubelet.summary = self.handed_out  # type: ignore[method-assign]  # what is kept

    async def measure(self) -> None:
        self.take()
        await asyncio.sleep(self.phase)
        while True:
            self.take()
            await asyncio.sleep(EVERY)

    def take(self) -> None:
        self.sample = self.summary("n1", START + timedelta(seconds=int(self.clock.elapsed())))

    async def handed_out(self, node: Node) -> SummaryRead:
        """Of the node as it was measured, of the pods that are still there."""
        there = [one for one in self.sample["pods"] if one["podRef"]["name"] in self.pods]
        body = msgspec.json.encode({"node": self.sample["node"], "pods": there})
        found = decode_summary(body, node.metadata.name)
        return SummaryRead(found, self.clock.now(), 0.01, len(body), via_api_server=False)

    def _uses(self, pod: Pod) -> bool:
        return pod.metadata.name in self.used

    def _terminate(self, pod: Pod) -> None:
        super()._terminate(pod)
        asyncio.get_running_loop().call_later(self.ends_in, self.remove_pod, pod.metadata.name)


async def lived(world: Sampled, seconds: float) -> list[str]:
    world.add_node()
    measuring = asyncio.create_task(world.measure())
    async with world.running():
        await asyncio.sleep(seconds)
    measuring.cancel()
    return [name for _, name in world.evictions()]


@pytest.mark.parametrize("phase", range(EVERY))
@pytest.mark.parametrize("ends_in", [1, 3, 12])
async def test_by_what_was_measured_while_a_pod_was_ending_no_other_goes(phase, ends_in):
    world = Sampled(ends_in, phase)
    world.fill("a", 2800)
    world.fill("b", 900)
    assert await lived(world, 120) == ["a"]


@pytest.mark.parametrize("phase", range(0, EVERY, 4))
async def test_nor_where_the_pod_had_a_grace_period(phase):
    soft = configured(**SOFT, evictionMaxPodGracePeriod=30)
    world = Sampled(30, phase, mode=mode_with(configuration=soft))
    world.fill("a", 2800)
    world.fill("b", 900)
    assert await lived(world, 150) == ["a"]


async def test_a_pod_that_is_known_nowhere_but_on_the_node_keeps_it_for_two_minutes():
    """A static pod without a mirror pod; rounds without a new measurement do not count anew."""
    world = Sampled(1)
    world.fill("small", 800)
    world.used["static"] = 3000
    world.pods["static"] = pod_of("static", "n1", uid="uid-static", creation_timestamp=YESTERDAY)
    world.add_node()
    measuring = asyncio.create_task(world.measure())
    async with world.running():
        world.relist_pods("static")
        await asyncio.sleep(100)
        assert world.evictions() == []
        await asyncio.sleep(80)
    measuring.cancel()
    assert [name for _, name in world.evictions()] == ["small"]


@pytest.mark.parametrize("phase", [0, 5, 10])
@pytest.mark.parametrize("grace", [100, 300])
async def test_a_minimum_reclaim_is_followed_up_however_long_a_pod_takes(grace, phase):
    reclaim = {"memory.available": "1Gi"}
    soft = configured(**SOFT, evictionMaxPodGracePeriod=grace, evictionMinimumReclaim=reclaim)
    world = Sampled(grace - 8, phase, mode=mode_with(configuration=soft))
    for name in "abcd":
        world.fill(name, 950)
    assert await lived(world, 1200) == ["a", "b"]


@pytest.mark.parametrize("broken", ["", "starting"])
async def test_whom_its_kubelet_evicts_before_the_first_round_is_waited_for(broken):
    world = PressureWorld()
    world.add_node()
    world.fill("a", 2000)
    world.fill("b", 1900)
    world.kubelet.broken = broken or "not yet"
    async with world.running():
        await asyncio.sleep(15 if broken else 1)
        world.kubelet.broken = ""
        world.kubelet_evicts("a")
        await asyncio.sleep(12)
    assert world.evictions() == []


async def test_a_note_is_used_up_by_a_round_alone():
    """The next worker reads the node, and cannot plan a round for minutes."""
    hour = {**SOFT, "evictionSoftGracePeriod": {"memory.available": "4m"}}
    world = PressureWorld()
    world.kubelet.configuration_of = hour
    world.add_node()
    world.fill("greedy", 3700)
    async with world.running():
        await asyncio.sleep(40)
    heir = world.successor()
    heir.kubelet.configuration_of = {"evictionHard": {"memory.available": "500Mo"}}
    heir.kubelet.broken = "starting"
    async with heir.running():
        await asyncio.sleep(100)
        heir.kubelet.broken = ""
        await asyncio.sleep(30)
        # Which is read again two minutes later: by then nobody has judged the node for long.
        heir.kubelet.configuration_of = hour
        await asyncio.sleep(160)
        assert heir.evictions() == []


async def test_whatever_a_node_has_in_its_annotation_the_others_are_judged():
    world = PressureWorld()
    node = world.add_node("n2")
    deep = '{"x": ' + "[" * 8000 + "]" * 8000 + "}"
    annotations = replace(node.metadata.annotations, pressure_state=deep)
    world.nodes["n2"] = replace(node, metadata=replace(node.metadata, annotations=annotations))
    world.add_node()
    world.fill("greedy", 3900)
    async with world.running():
        await asyncio.sleep(30)
    assert [name for _, name in world.evictions()] == ["greedy"]
