"""Disks that a kubelet measures every ten seconds: by one measurement one pod goes."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import TooManyRequestsError
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pod
from tests.harness.made_up_api import gone
from tests.harness.slow_kubelet import measured_by_kubelet

pytestmark = pytest.mark.looptime(start=0)

NODEFS = KubeletConfiguration(
    eviction_hard={"nodefs.available": "10%"}, enforce_node_allocatable=()
)


def full(**settings) -> AgentScene:
    """A node whose disk is nearly full once a test says so."""
    scene = AgentScene(HOG, CALM, configuration=NODEFS, **settings)
    scene.node.uses = {"hog": 300 * MIB, "calm": 100 * MIB}
    return scene


def frees_after(scene: AgentScene, seconds: float) -> None:
    """A pod that is deleted ends, and frees the disk, so many seconds later."""

    async def end(name: str) -> None:
        await asyncio.sleep(seconds)
        scene.node.uses.pop(name, None)
        scene.node.lies_there.discard(f"uid-{name}")
        scene.node.disk_free = 350 * MIB

    tasks = set[asyncio.Task[None]]()

    def when_deleted(gone: Pod) -> None:
        scene.node.lies_there.add(gone.metadata.uid)
        scene.tell_pods(*(one for one in scene.facts.pods if one != gone))
        tasks.add(asyncio.create_task(end(gone.metadata.name)))

    scene.api._when_deleted = when_deleted


@pytest.mark.parametrize("phase", [0.5, 2.5, 4.5, 6.5, 8.5, 9.9])
@pytest.mark.parametrize("seconds", [2.0, 5.0, 12.0, 25.0])
async def test_nobody_goes_by_what_was_measured_before_the_last_has_left(phase, seconds):
    scene = full()
    frees_after(scene, seconds)
    async with measured_by_kubelet(scene, phase), scene.running():
        await asyncio.sleep(20)
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(120)
    assert scene.api.deleted == ["hog"]


@pytest.mark.parametrize("phase", [0.5, 4.5, 8.5])
@pytest.mark.parametrize("seconds", [35.0, 50.0, 73.0])
async def test_nobody_goes_by_what_was_measured_before_a_slow_one_has_left(phase, seconds):
    """It had two minutes to end, for a soft threshold, and rounds go on meanwhile."""
    hog = replace(HOG, spec=replace(HOG.spec, termination_grace_period_seconds=120))
    limits = KubeletConfiguration(
        eviction_hard={},
        eviction_soft={"nodefs.available": "10%"},
        eviction_soft_grace_period={"nodefs.available": "10s"},
        eviction_max_pod_grace_period=120,
        enforce_node_allocatable=(),
    )
    scene = AgentScene(hog, CALM, configuration=limits)
    scene.node.uses = {"hog": 300 * MIB, "calm": 100 * MIB}
    frees_after(scene, seconds)
    async with measured_by_kubelet(scene, phase), scene.running():
        await asyncio.sleep(20)
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(200)
    assert scene.api.deleted == ["hog"]


@pytest.mark.parametrize("phase", [8.2, 8.5, 8.9])
async def test_nobody_goes_by_what_was_measured_before_one_left_by_itself(phase):
    """The kubelet measures between the two, and is asked after both."""
    scene = full()
    async with measured_by_kubelet(scene, phase), scene.running():
        await asyncio.sleep(28)
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(1)
        scene.node.uses.pop("hog")
        scene.tell_pods(CALM)
        scene.node.disk_free = 350 * MIB
        await asyncio.sleep(60)
    assert scene.api.deleted == []


async def test_where_one_is_not_enough_the_next_goes():
    scene = full()
    async with measured_by_kubelet(scene, 0.5), scene.running():
        await asyncio.sleep(20)
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(60)
    assert scene.api.deleted == ["hog", "calm"]


async def test_where_the_first_is_gone_already_nobody_goes_by_the_same_measurement(monkeypatch):
    scene = full()
    scene.api.fails = gone("hog")

    def left() -> None:
        scene.node.uses.pop("hog")
        scene.node.disk_free = 350 * MIB

    async with measured_by_kubelet(scene, 0.5), scene.running():
        await asyncio.sleep(20)
        scene.node.disk_free = 50 * MIB
        while not scene.standing.describe()["chosen"]:
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.05)
        left()
        scene.api.fails = None
        await asyncio.sleep(60)
    assert scene.api.deleted == []


async def test_an_agent_that_is_started_anew_waits_for_a_new_measurement():
    """That of before may be the one by which the last has gone by."""
    scene = full()
    async with measured_by_kubelet(scene, 0.0):
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(1)
        async with scene.running():
            await asyncio.sleep(5)
            assert scene.api.deleted == []
            await asyncio.sleep(30)
    assert scene.api.deleted == ["hog"]


async def test_what_failed_is_not_tried_by_a_measurement_of_half_a_minute_ago():
    scene = full()
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with measured_by_kubelet(scene, 9.0) as kubelet, scene.running():
        await asyncio.sleep(28)
        scene.node.disk_free = 50 * MIB
        await asyncio.sleep(12)
        assert scene.standing.describe()["chosen"]
        kubelet.silent = True
        scene.node.disk_free = 500 * MIB
        await asyncio.sleep(60)
        scene.api.fails = None
        await asyncio.sleep(20)
    assert scene.api.deleted == []


@pytest.mark.parametrize("seconds", [-20, -3600])
async def test_a_clock_that_was_put_back_makes_no_measurement_of_before_new(seconds):
    """Of what was freed nothing is known before the kubelet has measured once more."""
    scene = full(reclaims=True)
    scene.node.freeing_takes = 0.2
    async with measured_by_kubelet(scene, 0.5), scene.running():
        await asyncio.sleep(25)
        scene.node.disk_free, scene.node.garbage = 50 * MIB, 300 * MIB
        while not scene.node.freed:
            await asyncio.sleep(0.1)
        scene.clock.step = timedelta(seconds=seconds)
        await asyncio.sleep(100)
    assert scene.node.garbage == 0
    assert scene.api.deleted == []


async def test_pods_that_cannot_be_read_keep_no_memory():
    scene = full()
    limits = {"memory.available": "100Mi", "nodefs.available": "10%"}
    scene.facts._configured = replace(NODEFS, eviction_hard=limits)
    async with measured_by_kubelet(scene, 0.5) as kubelet, scene.running():
        await asyncio.sleep(20)
        kubelet.malformed = True
        await asyncio.sleep(100)
        assert any("its pods cannot be read" in one for one in scene.standing.complaints)
        scene.node.uses["hog"] = 850 * MIB
        await asyncio.sleep(11)
    assert scene.api.deleted == ["hog"]


async def test_nobody_goes_for_a_limit_of_its_own_by_what_a_silent_kubelet_said_an_hour_ago():
    over = pod("over", limit="100Mi")
    scene = AgentScene(over, configuration=NODEFS)
    scene.node.uses = {"over": 200 * MIB}
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with measured_by_kubelet(scene, 0.5) as kubelet, scene.running():
        await asyncio.sleep(20)
        kubelet.silent = True
        await asyncio.sleep(3600)
        scene.api.fails = None
        await asyncio.sleep(60)
    assert scene.api.deleted == []
