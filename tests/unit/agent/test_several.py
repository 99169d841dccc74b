"""Several thresholds at once: what one waits for keeps no harder one, and no other resource."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.findings import TERMS
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.agent_scene import CALM, MIB, AgentScene, pod

pytestmark = pytest.mark.looptime(start=0)


def limits(soft: str, **hard: str) -> KubeletConfiguration:
    """A soft threshold of 10 s for this signal, and hard ones."""
    amount = "100Mi" if soft == "memory.available" else "10%"
    return KubeletConfiguration(
        eviction_hard={name.replace("_", "."): value for name, value in hard.items()},
        eviction_soft={soft: amount},
        eviction_soft_grace_period={soft: "10s"},
        eviction_max_pod_grace_period=600,
        enforce_node_allocatable=(),
    )


def slow(grace: int = 600) -> Pod:
    """It takes all the time that it is given."""
    made = pod("slow")
    return replace(made, spec=replace(made.spec, termination_grace_period_seconds=grace))


def leaving_slowly(
    configuration: KubeletConfiguration,
    *others: Pod,
    grace: int = 600,
    reclaims: bool = False,
    writes_phase: bool = False,
) -> AgentScene:
    """A node whose pod `slow` stays for as long as it may, and in the API as well."""
    scene = AgentScene(slow(grace), *others, configuration=configuration, reclaims=reclaims)
    ends = timedelta(seconds=grace)

    def when_deleted(gone: Pod) -> None:
        staying = [one for one in scene.facts.pods if one.metadata.uid != gone.metadata.uid]
        if gone.metadata.name != "slow":
            scene.node.uses.pop(gone.metadata.name, None)
            scene.tell_pods(*staying)
            return
        meta = replace(gone.metadata, deletion_timestamp=scene.clock.now() + ends)
        if writes_phase:
            gone = replace(gone, status=replace(gone.status, phase="Failed", reason="Evicted"))
        scene.tell_pods(*staying, replace(gone, metadata=meta))

    scene.api._when_deleted = when_deleted
    return scene


BOMB = pod("bomb", asks="300Mi", priority=-5)


@pytest.mark.parametrize("soft", ["memory.available", "nodefs.available"])
async def test_no_hard_threshold_waits_for_who_leaves_for_a_soft_one(soft):
    scene = leaving_slowly(limits(soft, pid_available="10%"), BOMB, CALM)
    scene.node.uses = {"slow": 750 * MIB, "bomb": 190 * MIB, "calm": MIB}
    scene.node.disk_free = 50 * MIB if soft == "nodefs.available" else 500 * MIB
    async with scene.running():
        await asyncio.sleep(45)
        before = list(scene.api.deleted)
        assert "slow" in before
        scene.node.processes_left = 5
        await asyncio.sleep(45)
    assert len(scene.api.deleted) > len(before)


async def test_a_hard_threshold_is_not_held_up_by_a_soft_one_of_its_own_resource():
    """The soft one has its victim, which leaves; of the hard one the next is the first."""
    hard = replace(
        limits("memory.available", pid_available="10%"),
        eviction_soft={"memory.available": "100Mi", "pid.available": "20%"},
        eviction_soft_grace_period={"memory.available": "10s", "pid.available": "10s"},
    )
    scene = leaving_slowly(hard, BOMB, CALM)
    scene.node.uses = {"slow": 750 * MIB, "bomb": 190 * MIB, "calm": MIB}
    async with scene.running():
        await asyncio.sleep(45)
        # Soft thresholds of others wait as well.
        scene.node.processes_left = 150
        await asyncio.sleep(60)
        assert scene.api.deleted == ["slow"]
        scene.node.processes_left = 5
        await asyncio.sleep(15)
    assert len(scene.api.deleted) == 2


async def test_where_who_goes_for_a_hard_threshold_is_about_to_be_gone_no_other_goes():
    """As a kubelet that waits: memory comes first, and will be free in a moment."""
    configuration = KubeletConfiguration(
        eviction_hard={"memory.available": "100Mi", "pid.available": "10%"},
        enforce_node_allocatable=(),
    )
    hog = pod("hog")
    scene = AgentScene(hog, CALM, configuration=configuration)
    ends = scene.clock.now() + timedelta(seconds=1)
    ending = replace(hog, metadata=replace(hog.metadata, deletion_timestamp=ends))
    scene.tell_pods(ending, CALM)
    scene.node.uses, scene.node.processes_left = {"hog": 940 * MIB, "calm": MIB}, 5
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.standing.describe()["reason"] == "EndsAlready"
    assert scene.api.deleted == []


async def test_memory_that_runs_low_in_earnest_does_not_wait_for_who_leaves_for_a_soft_threshold():
    scene = leaving_slowly(
        replace(limits("memory.available"), eviction_hard={"memory.available": "20Mi"}), BOMB
    )
    scene.node.uses = {"slow": 750 * MIB, "bomb": 190 * MIB}
    async with scene.running():
        await asyncio.sleep(45)
        assert scene.api.deleted == ["slow"]
        scene.node.uses["bomb"] = 245 * MIB
        scene.wake.notice("usage")
        await asyncio.sleep(5)
    # The pod that leaves is given less time, or the next goes.
    assert len(scene.api.deleted) == 2


@pytest.mark.parametrize(("grace", "waits"), [(28, 58), (120, 150)])
async def test_a_soft_threshold_waits_for_the_grace_period_and_half_a_minute(grace, waits):
    scene = leaving_slowly(limits("memory.available"), pod("next"), grace=grace)
    scene.node.uses = {"slow": 480 * MIB, "next": 460 * MIB}
    async with scene.running():
        while not scene.api.deleted:
            await asyncio.sleep(0.5)
        began = asyncio.get_running_loop().time()
        # It uses a little less, so that the other would be first now.
        scene.node.uses["slow"] = 450 * MIB
        while len(scene.api.deleted) < 2:
            await asyncio.sleep(0.5)
        assert waits <= asyncio.get_running_loop().time() - began <= waits + 12


async def test_while_the_next_for_a_soft_threshold_waits_a_hard_one_of_others_does_not():
    scene = leaving_slowly(limits("memory.available", pid_available="10%"), pod("next"))
    scene.node.uses = {"slow": 480 * MIB, "next": 460 * MIB}
    async with scene.running():
        await asyncio.sleep(45)
        assert scene.api.deleted == ["slow"]
        # The other would be first now.
        scene.node.uses["slow"] = 450 * MIB
        await asyncio.sleep(30)
        assert "has not left yet" in scene.standing.describe()["waits"]
        scene.node.processes_left = 5
        await asyncio.sleep(15)
    assert len(scene.api.deleted) == 2


async def test_a_full_disk_is_freed_while_somebody_leaves_for_a_soft_threshold():
    configuration = limits("memory.available", nodefs_available="10%")
    scene = leaving_slowly(configuration, pod("next"), reclaims=True)
    scene.node.uses = {"slow": 480 * MIB, "next": 460 * MIB}
    async with scene.running():
        await asyncio.sleep(45)
        scene.node.uses["slow"] = 450 * MIB
        scene.node.disk_free, scene.node.garbage = 10 * MIB, 400 * MIB
        await asyncio.sleep(30)
    assert scene.node.garbage == 0
    assert scene.api.deleted == ["slow"]


@pytest.mark.parametrize("frees", [True, False], ids=["it can be freed", "it cannot"])
async def test_neither_disks_nor_processes_wait_for_a_pod_that_the_api_does_not_tell_of(frees):
    configuration = KubeletConfiguration(
        eviction_hard={
            "memory.available": "100Mi",
            "nodefs.available": "10%",
            "pid.available": "10%",
        },
        enforce_node_allocatable=(),
    )
    scene = AgentScene(pod("hog"), CALM, configuration=configuration, reclaims=True)
    scene.node.uses = {"hog": 100 * MIB, "calm": MIB, "ghost": 850 * MIB}
    scene.node.disk_free, scene.node.garbage = 10 * MIB, 400 * MIB
    scene.node.cannot_free = "" if frees else "no runtime"
    async with scene.running():
        await asyncio.sleep(15)
        assert scene.api.deleted == []
        assert (scene.node.garbage == 0) is frees
        scene.node.processes_left = 5
        await asyncio.sleep(15)
        assert scene.api.deleted != []


async def test_memory_does_not_wait_for_one_that_the_agent_has_evicted_itself():
    """Its phase says that it has finished, as it is written with its eviction, and it runs."""
    configuration = replace(limits("memory.available"), eviction_hard={"memory.available": "20Mi"})
    scene = leaving_slowly(configuration, pod("next"), writes_phase=True)
    scene.node.uses = {"slow": 750 * MIB, "next": 190 * MIB}
    async with scene.running():
        await asyncio.sleep(45)
        assert scene.api.deleted == ["slow"]
        scene.node.uses["next"] = 245 * MIB
        scene.wake.notice("usage")
        await asyncio.sleep(5)
    assert scene.api.deleted == ["slow", "next"]


async def test_no_process_waits_for_a_pod_that_the_api_does_not_tell_of():
    """It uses memory, and that alone is waited for."""
    configuration = KubeletConfiguration(
        eviction_hard={"memory.available": "100Mi", "pid.available": "10%"},
        enforce_node_allocatable=(),
    )
    scene = AgentScene(pod("hog"), CALM, configuration=configuration)
    scene.node.uses = {"hog": 100 * MIB, "calm": MIB, "ghost": 850 * MIB}
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.api.deleted == []
        scene.node.processes_left = 5
        await asyncio.sleep(5)
        assert len(scene.api.deleted) == 1


async def test_pods_that_come_over_their_limits_one_after_the_other_keep_no_memory_short():
    scene = AgentScene(pod("hog"), CALM)
    scene.node.uses = {"hog": 100 * MIB, "calm": 10 * MIB}
    scene.node.lies_there = {f"uid-over-{number}" for number in range(12)}
    async with scene.running():
        for number in range(12):
            over = pod(f"over-{number}", limit="1Mi")
            scene.tell_pods(*scene.facts.pods, over)
            scene.node.uses[over.metadata.name] = 2 * MIB
            if number == 1:
                scene.node.uses["hog"] = 900 * MIB
            await asyncio.sleep(20)
            if number == 5:
                assert "hog" in scene.api.deleted


async def test_one_over_its_limit_that_leaves_is_not_evicted_again():
    over = pod("over", limit="1Mi")
    scene = AgentScene()
    scene.node.uses = {"over": 2 * MIB}
    for seconds in (3, 1, -20, -40):
        ends = scene.clock.now() + timedelta(seconds=seconds)
        scene.tell_pods(replace(over, metadata=replace(over.metadata, deletion_timestamp=ends)))
        await scene.rounds.one()
    assert scene.api.deleted == []
    scene.tell_pods(over)
    await scene.rounds.one()
    assert scene.api.deleted == ["over"]


async def test_after_a_restart_a_soft_threshold_waits_as_long(tmp_path):
    first = leaving_slowly(limits("memory.available"), pod("next"), grace=300)
    first.node.uses = {"slow": 480 * MIB, "next": 460 * MIB}
    async with first.running():
        await asyncio.sleep(80)
        assert first.api.deleted == ["slow"]
    heir = AgentScene(configuration=limits("memory.available"))
    # It uses less, so that the next would be first; its time is over in 230 s and half a minute.
    heir.node.uses = {"slow": 300 * MIB, "next": 610 * MIB}
    heir.tell_pods(*(as_evicted(one) if one.is_terminating else one for one in first.facts.pods))
    heir.node.lies_there = {"uid-slow"}
    async with heir.running():
        await asyncio.sleep(150)
        assert heir.api.deleted == []
        assert "has not left yet" in heir.standing.describe()["waits"]
        await asyncio.sleep(150)
        assert heir.api.deleted == ["next"]


async def test_after_a_restart_a_moment_after_the_eviction_a_soft_threshold_waits_as_long():
    """What it waits for anyway, half a minute, is not all of its time."""
    first = leaving_slowly(limits("memory.available"), pod("next"), grace=300)
    first.node.uses = {"slow": 480 * MIB, "next": 460 * MIB}
    async with first.running():
        while not first.api.deleted:
            await asyncio.sleep(0.5)
    heir = AgentScene(configuration=limits("memory.available"))
    heir.node.uses = {"slow": 300 * MIB, "next": 610 * MIB}
    now = heir.clock.now()
    heir.tell_pods(
        *(as_evicted(one, now) if one.is_terminating else one for one in first.facts.pods)
    )
    heir.node.lies_there = {"uid-slow"}
    async with heir.running():
        await asyncio.sleep(200)
    assert heir.api.deleted == []


def as_evicted(one: Pod, at: datetime | None = None) -> Pod:
    """With the condition that was written with its eviction, by default at its end."""
    assert TERMS.condition is not None
    at = at or one.metadata.deletion_timestamp
    condition = replace(TERMS.condition, message="m", last_transition_time=at)
    return replace(one, status=replace(one.status, conditions=(condition,)))
