"""Pods that are ending, held, or not known of: who goes in their place, and when nobody does."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import UnreachableError
from bailiff.cluster.kubelets import KubeletForbiddenError
from bailiff.decisions.policies import EvictionApi, Policies
from bailiff.decisions.pressure.extensions import PressureExtensions, ReleaseTarget
from bailiff.kinds import Annotations
from bailiff.kinds.pod_volumes import EmptyDir, Volume
from tests.harness.kinds import pod_of
from tests.harness.worlds.pressure_world import MIB, PressureWorld, configured, mode_with
from tests.harness.worlds.world import YESTERDAY

pytestmark = pytest.mark.looptime(start=0)

SOFT = {
    "evictionHard": {"memory.available": "50Mi"},
    "evictionSoft": {"memory.available": "500Mi"},
    "evictionSoftGracePeriod": {"memory.available": "10s"},
    "evictionMaxPodGracePeriod": 60,
}


def names(world: PressureWorld) -> list[str]:
    return [name for _, name in world.evictions()]


def two_pods(**settings: object) -> PressureWorld:
    """greedy goes first, and then calm; who is deleted uses its memory to the end."""
    world = PressureWorld(**settings)  # type: ignore[arg-type]  # those of the world
    world.lingering = world.slow = True
    world.add_node()
    world.fill("greedy", 3300)
    world.fill("calm", 600)
    return world


def annotated(world: PressureWorld, name: str, do_not_evict: str) -> None:
    pod = world.pods[name]
    annotations = Annotations(do_not_evict=do_not_evict)
    world.put(replace(pod, metadata=replace(pod.metadata, annotations=annotations)))


async def test_a_pod_that_takes_its_time_to_end_is_given_less():
    """As the kubelet has it (calculateEffectiveGracePeriod in pod_workers.go)."""
    world = two_pods()
    world.delete_in("greedy", 3600)
    async with world.running():
        await asyncio.sleep(100)
    assert (names(world), world.given) == (["greedy"], {"greedy": 1})


async def test_for_a_pod_that_is_nearly_gone_nobody_goes():
    world = two_pods()
    world.delete_in("greedy", 8)
    async with world.running():
        await asyncio.sleep(60)
    assert world.evictions() == []


async def test_who_was_deleted_by_an_attempt_without_an_answer_is_deleted_once():
    world = two_pods()
    answer = world.verbs["delete"]

    async def lose_the_answer(call):
        await answer(call)
        raise UnreachableError("connection reset")

    world.verbs["delete"] = lose_the_answer
    async with world.running():
        await asyncio.sleep(20)
    assert names(world) == ["greedy"]


async def test_a_pod_that_should_have_been_gone_keeps_nobody():
    world = two_pods()
    world.slow = False
    world.delete_in("greedy", -40)
    async with world.running():
        await asyncio.sleep(60)
    assert names(world) == ["calm"]


async def test_the_next_goes_when_the_grace_period_of_the_one_before_is_over():
    world = PressureWorld(mode_with(configuration=configured(**SOFT)))
    world.lingering = world.slow = True
    world.add_node()
    for name in "abcd":
        world.fill(name, 990)
    async with world.running():
        await asyncio.sleep(75)
        assert (names(world), world.given) == (["a"], {"a": 60})
        assert "has not left yet" in world.pressure.describe()["pressed"]["why"]["n1"]
        await asyncio.sleep(30)
    # By then a is gone, and 1,126 MiB are left.
    assert names(world) == ["a"]


async def test_who_is_held_costs_no_write_with_each_round():
    world = two_pods(policies=Policies(protection=True))
    annotated(world, "greedy", "true")
    async with world.running():
        await asyncio.sleep(600)
    assert world.evictions() == []
    # Once a minute, while the threshold is met.
    assert len(world.noted) <= 12


async def test_a_pod_over_a_limit_of_its_own_that_is_held_keeps_nobody_who_goes_by_rank():
    world = two_pods(policies=Policies(protection=True))
    world.fill("held", 10)
    pod = world.pods["held"]
    volume = Volume(name="v", empty_dir=EmptyDir(size_limit="1Mi"))
    world.put(replace(pod, spec=replace(pod.spec, volumes=(volume,))))
    annotated(world, "held", "true")
    world.on_disk["held"] = 2 * MIB
    async with world.running():
        await asyncio.sleep(60)
    assert names(world) == ["greedy"]


async def test_while_a_pod_that_uses_more_is_not_known_nobody_goes_for_it():
    """The watch of pods is behind; it has not told of hog, or the summary has not of its end."""
    world = PressureWorld()
    world.add_node()
    for name in "abcd":
        world.fill(name, 10)
    async with world.running():
        await asyncio.sleep(15)
        world.used["hog"] = 3900
        world.pods["hog"] = pod_of("hog", "n1", uid="uid-hog", creation_timestamp=YESTERDAY)
        await asyncio.sleep(100)
        assert world.evictions() == []
        assert "does not tell of" in world.pressure.describe()["pressed"]["why"]["n1"]
        world.put(world.pods["hog"])
        await asyncio.sleep(20)
    assert names(world) == ["hog"]


async def test_what_one_node_tells_ends_no_eviction_on_others():
    """A fault of ours, of which a node makes use; it is unknown, and told as that."""
    world = PressureWorld()
    world.add_node()
    world.add_node("n2")
    world.fill("greedy", 3900)
    world.fill("other", 3900, node="n2")
    judge = world.pressure._judge

    def fail(node, watched, measured):
        if node.metadata.name == "n2":
            raise ZeroDivisionError
        judge(node, watched, measured)

    world.pressure._judge = fail  # type: ignore[method-assign]  # stands for a fault
    async with world.running():
        await asyncio.sleep(60)
        unknown = world.pressure.describe()["unknown"]["nodes"]
    assert names(world) == ["greedy"]
    assert list(unknown) == ["n2"]


async def test_nor_does_what_one_kubelet_answers():
    world = PressureWorld()
    world.add_node()
    world.add_node("n2")
    world.fill("greedy", 3900)
    answer = world.kubelet.summary

    async def fail(node):
        if node.metadata.name == "n2":
            raise ZeroDivisionError
        return await answer(node)

    world.kubelet.summary = fail  # type: ignore[method-assign]  # stands for a fault
    async with world.running():
        await asyncio.sleep(60)
        unknown = world.pressure.describe()["unknown"]["nodes"]
    assert names(world) == ["greedy"]
    assert list(unknown) == ["n2"]


async def test_with_a_release_target_nobody_is_given_more_time_than_it_has():
    soft = configured(**{**SOFT, "evictionMaxPodGracePeriod": 600})
    extensions = PressureExtensions(release_target=ReleaseTarget())
    world = two_pods(mode=mode_with(configuration=soft, extensions=extensions))
    world.delete_in("greedy", 150)
    async with world.running():
        await asyncio.sleep(60)
    assert names(world) == ["calm"]


async def test_the_configuration_that_was_read_last_counts_for_ten_minutes():
    world = PressureWorld()
    world.add_node()
    world.fill("calm", 100)
    answer = world.kubelet.configuration
    async with world.running():
        await asyncio.sleep(30)
        world.kubelet.configuration_of = {"evictionHard": "nothing"}
        await asyncio.sleep(130)
        assert world.pressure.describe()["unknown"]["count"] == 1
        world.kubelet.configuration_of = {}
        await asyncio.sleep(20)
        assert world.pressure.describe()["unknown"]["count"] == 0

        async def broken(node):
            raise KubeletForbiddenError("403")

        world.kubelet.configuration = broken  # type: ignore[method-assign]  # for a while
        await asyncio.sleep(550)
        assert world.pressure.describe()["unknown"]["count"] == 0
        await asyncio.sleep(130)
        assert world.pressure.describe()["unknown"]["count"] == 1
        world.kubelet.configuration = answer  # type: ignore[method-assign]  # it is back
        await asyncio.sleep(20)
        assert world.pressure.describe()["unknown"]["count"] == 0


async def test_a_pod_of_which_nothing_was_measured_is_waited_for_too():
    world = PressureWorld()
    world.lingering = True
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    for name in "ab":
        world.put(pod_of(name, "n1", phase="Running", uid=f"uid-{name}"))
    async with world.running():
        await asyncio.sleep(30)
        assert len(world.evictions()) == 1
        await asyncio.sleep(20)
    assert len(world.evictions()) == 2


async def test_a_clock_that_is_set_overrides_no_budget():
    """The deadline of a budget counts from when the pod fell due, by time that passes."""
    budgets = EvictionApi(deadline_seconds=600)
    world = PressureWorld(policies=Policies(eviction_api=budgets))
    world.add_node()
    world.fill("greedy", 3900)
    world.budgets["greedy"] = "not now"
    world.used["greedy"] = 100
    async with world.running():
        await asyncio.sleep(15)
        world.clock.step = timedelta(hours=1)
        world.used["greedy"] = 3900
        await asyncio.sleep(580)
        assert world.evictions() == []
        await asyncio.sleep(100)
    assert names(world) == ["greedy"]


@pytest.mark.parametrize("broken", ["", "x" * 10_000], ids=["the node", "its kubelet"])
async def test_what_a_node_says_of_itself_is_quoted_in_short(broken):
    world = PressureWorld()
    world.add_node(nodeInfo={"operatingSystem": "x" * 10_000})
    world.kubelet.broken = broken
    async with world.running():
        await asyncio.sleep(30)
        (why,) = world.pressure.describe()["unknown"]["nodes"].values()
    assert broken or "must be linux or windows" in why
    assert len(why) <= 500


async def test_each_resource_that_is_short_is_told():
    world = PressureWorld(mode_with(interval=10.0))
    world.add_node()
    world.fill("vital", 3900, priority=2_000_000_000)
    world.kubelet.configuration_of = {
        "evictionHard": {"memory.available": "500Mi", "pid.available": "10"}
    }
    async with world.running():
        await asyncio.sleep(60)
        world.fill("vital", 100)
        world.processes_left = 5
        await asyncio.sleep(60)
    assert world.events_on("n1").count("EvictionThresholdMet") == 2


async def test_who_is_held_goes_by_no_old_round():
    """Between two readings that are far apart the node may have been freed long ago."""
    world = PressureWorld(mode_with(900.0), policies=Policies(protection=True))
    world.add_node()
    world.fill("greedy", 3900)
    annotated(world, "greedy", "true")
    async with world.running():
        while "n1" not in world.kubelet.asked:
            await asyncio.sleep(1)
        until = world.clock.now() + timedelta(seconds=300)
        annotated(world, "greedy", until.strftime("%Y-%m-%dT%H:%M:%SZ"))
        world.fill("greedy", 10)
        await asyncio.sleep(600)
    assert world.evictions() == []


@pytest.mark.parametrize("interval", [10.0, 200.0])
async def test_however_far_apart_rounds_are_soft_thresholds_count(interval):
    soft = configured(**{**SOFT, "evictionSoftGracePeriod": {"memory.available": "1m"}})
    world = PressureWorld(mode_with(interval, configuration=soft, stale_after=600.0))
    world.add_node()
    world.fill("greedy", 3700)
    async with world.running():
        await asyncio.sleep(900)
    assert names(world) == ["greedy"]
