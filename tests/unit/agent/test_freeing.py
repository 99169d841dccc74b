"""The node is freed before anybody goes, and everything else goes on meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.cluster import TooManyRequestsError
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.agent_scene import CALM, HOG, MIB, low_disk
from tests.harness.slow_kubelet import measured_by_kubelet

pytestmark = pytest.mark.looptime(start=0)


def disk_and(
    hard: dict[str, str] | None = None, soft: str = "", reclaim: str = "0"
) -> KubeletConfiguration:
    """Below 10 % of the disk, and what else is told; `soft` is the grace period of memory."""
    return KubeletConfiguration(
        eviction_hard={"imagefs.available": "10%", **(hard or {})},
        eviction_soft={"memory.available": "100Mi"} if soft else None,
        eviction_soft_grace_period={"memory.available": soft} if soft else None,
        eviction_minimum_reclaim={"imagefs.available": reclaim},
        enforce_node_allocatable=(),
    )


async def test_memory_is_seen_while_the_node_is_freed():
    scene = low_disk()
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses = {"hog": 950 * MIB}
        scene.wake.notice("usage")
        await asyncio.sleep(0.1)
        assert scene.api.deleted == ["hog"]


async def test_the_node_is_freed_before_anybody_goes():
    scene = low_disk()
    async with scene.running():
        await asyncio.sleep(5)
    assert scene.node.freed == [("DeleteUnusedContainers", "DeleteUnusedImages")]
    assert scene.api.deleted == []


async def test_where_there_is_no_garbage_the_right_pod_goes_after_it_was_looked_for():
    scene = low_disk(HOG, CALM)
    scene.node.uses, scene.node.garbage = {"hog": 20 * MIB, "calm": 10 * MIB}, 0
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.node.freed
    assert scene.api.deleted == ["hog"]


@pytest.mark.parametrize(("garbage", "gone"), [(40, ["hog"]), (60, ["hog"]), (160, [])])
async def test_what_was_freed_has_to_reach_the_minimum_reclaim(garbage, gone):
    """100 MiB are wanted, and 100 more: 50 and 60 are above the threshold, and not enough."""
    scene = low_disk(configuration=disk_and(reclaim="100Mi"))
    scene.node.garbage = garbage * MIB
    async with scene.running():
        await asyncio.sleep(5)
    assert scene.api.deleted == gone


async def test_what_is_noticed_all_the_time_keeps_no_freeing_from_its_end():
    scene = low_disk()
    scene.node.freeing_takes = 20.0
    async with scene.running():
        for _ in range(220):
            scene.wake.notice("usage")
            await asyncio.sleep(0.1)
    assert scene.node.garbage == 0
    assert len(scene.node.freed) == 1
    assert scene.api.deleted == []


async def test_memory_is_looked_at_while_the_node_is_freed_though_nothing_is_noticed():
    scene = low_disk()
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(11)
        assert scene.api.deleted == ["hog"]


async def test_a_grace_period_goes_on_while_the_node_is_freed():
    """Each look counts as a round: the grace period began with one, and is over in another."""
    scene = low_disk(configuration=disk_and(soft="60s"))
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(15)
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(20)
        # And so does what is told of the node.
        assert "MemoryPressure" in scene.standing.describe()["conditions"]
        assert scene.api.deleted == []
        await asyncio.sleep(50)
        assert scene.api.deleted == ["hog"]


async def test_looks_are_counted_by_what_has_made_them():
    scene = low_disk()
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(3)
        scene.wake.notice("usage")
        await asyncio.sleep(1)
    told = {"by": "usage"}
    assert scene.metrics.registry.get_sample_value("bailiff_agent_rounds_total", told) == 1.0


async def test_once_the_disk_is_freed_nobody_goes_for_it_though_something_else_has_run_low():
    """The kubelet would evict: it looks whether any threshold at all is met."""
    scene = low_disk(configuration=disk_and(soft="300s"))
    scene.node.freeing_takes = 30.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(100)
        assert scene.node.garbage == 0
        assert scene.api.deleted == []


async def test_what_runs_low_while_the_node_is_freed_for_something_else_is_freed_first_as_well():
    """No pod goes for inodes only because the node was freed for bytes."""
    scene = low_disk(configuration=disk_and({"imagefs.inodesFree": "10%"}))
    scene.node.freeing_takes, scene.node.inodes_free = 5.0, 500
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.inodes_free = 50
        await asyncio.sleep(5)
        assert len(scene.node.freed) == 1
        assert scene.api.deleted == []
        await asyncio.sleep(10)
        # The next round frees for those.
        assert len(scene.node.freed) == 2
        scene.node.inodes_free = 500
        await asyncio.sleep(20)
    assert scene.api.deleted == []


async def test_what_cannot_be_freed_is_told_with_its_reason():
    scene = low_disk()
    scene.node.cannot_free = "the runtime does not answer"
    async with scene.running():
        await asyncio.sleep(1)
    assert any("the runtime does not answer" in one for one in scene.standing.complaints)
    assert scene.api.deleted == []
    scene.node.cannot_free, scene.node.disk_free = "", 500 * MIB
    await scene.rounds.one()
    assert scene.standing.complaints == []


async def test_where_the_node_cannot_be_freed_memory_and_its_grace_periods_go_on():
    scene = low_disk(uses=950 * MIB, configuration=disk_and(soft="60s"))
    scene.node.cannot_free = "the runtime does not answer"
    async with scene.running():
        await asyncio.sleep(50)
        assert scene.api.deleted == []
        assert "DiskPressure" in scene.standing.describe()["conditions"]
        await asyncio.sleep(30)
    assert scene.api.deleted == ["hog"]


@pytest.mark.parametrize("takes", [0.001, 45.0], ids=["at once", "after some looks"])
async def test_where_the_node_cannot_be_freed_processes_do_not_wait_for_it(takes):
    """A disk comes before them by the order of signals, and would keep them for good."""
    scene = low_disk(configuration=disk_and({"pid.available": "10%"}))
    scene.node.cannot_free, scene.node.freeing_takes = "the runtime does not answer", takes
    scene.node.processes_left = 20
    async with scene.running():
        await asyncio.sleep(60)
    assert scene.api.deleted == ["hog"]
    (told,) = scene.standing.describe()["chosen"]
    assert "pids" in told["why"]


async def test_processes_do_not_wait_while_the_node_is_freed():
    scene = low_disk(configuration=disk_and({"pid.available": "10%"}))
    scene.node.freeing_takes = 119.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.processes_left = 20
        await asyncio.sleep(10)
    assert scene.api.deleted == ["hog"]


async def test_a_disk_is_freed_first_where_processes_run_low_as_well():
    """By the order of signals; a look, and not the first round, takes them apart."""
    scene = low_disk(configuration=disk_and({"pid.available": "10%"}))
    scene.node.processes_left = 20
    async with scene.running():
        await asyncio.sleep(0.5)
        assert scene.node.garbage == 0
        await asyncio.sleep(15)
    assert scene.api.deleted == ["hog"]


async def test_while_an_unknown_pod_is_waited_for_there_is_a_look_each_second():
    scene = low_disk(HOG)
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses = {"hog": 450 * MIB, "ghost": 500 * MIB}
        await asyncio.sleep(15)
        assert "does not tell of" in scene.standing.describe()["waits"]
        before = len(scene.node.looks)
        await asyncio.sleep(5)
        assert len(scene.node.looks) - before >= 4


async def test_what_is_freed_goes_on_while_somebody_cannot_be_evicted():
    """Else it would begin anew with each round, and never end."""
    scene = low_disk(configuration=disk_and({"pid.available": "10%"}))
    scene.node.freeing_takes, scene.node.processes_left = 35.0, 20
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with scene.running():
        await asyncio.sleep(30)
        # Somebody was to go meanwhile.
        assert scene.standing.describe()["chosen"]
        await asyncio.sleep(15)
        assert scene.node.garbage == 0
    assert len(scene.node.freed) == 1


async def test_a_look_that_sees_nothing_ends_no_freeing():
    scene = low_disk()
    scene.node.freeing_takes = 25.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.broken = "the summary did not come"
        await asyncio.sleep(6)
        assert scene.standing.complaints == []
        scene.node.broken = ""
        await asyncio.sleep(20)
    assert len(scene.node.freed) == 1
    assert scene.node.garbage == 0


async def test_why_nobody_goes_while_the_node_is_freed_is_told():
    scene = low_disk()
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(15)
        assert scene.standing.describe()["reason"] == "ReclaimFirst"


async def test_what_the_agent_sees_is_told_while_it_frees_for_the_first_time():
    scene = low_disk()
    scene.node.freeing_takes = 100.0
    async with scene.running():
        await asyncio.sleep(1)
        assert scene.standing.unknown == ""
        assert "DiskPressure" in scene.standing.describe()["conditions"]


@pytest.mark.parametrize("every", [0.1, 1.0])
@pytest.mark.parametrize("phase", [9.3, 9.6, 9.9])
async def test_what_is_noticed_all_the_time_takes_no_measurement_from_a_freeing(phase, every):
    """A look sees what the kubelet has measured before the one that has freed does."""
    scene = low_disk(HOG, CALM)
    scene.node.uses, scene.node.garbage = {"hog": 20 * MIB, "calm": 10 * MIB}, 0
    scene.node.freeing_takes = 0.5
    async with measured_by_kubelet(scene, phase), scene.running():
        async with asyncio.timeout(120):
            while not scene.api.deleted:
                scene.wake.notice("stall")
                await asyncio.sleep(every)
    assert scene.api.deleted == ["hog"]
