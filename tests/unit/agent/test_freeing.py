"""The node is freed before anybody goes, and memory is looked at meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene

pytestmark = pytest.mark.looptime(start=0)


async def test_memory_is_seen_while_the_node_is_freed():
    scene = AgentScene(HOG, reclaims=True)
    scene.node.uses = {"hog": 10 * MIB}
    scene.node.disk_free, scene.node.garbage, scene.node.freeing_takes = 50 * MIB, 200 * MIB, 100.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses = {"hog": 950 * MIB}
        scene.wake.notice("usage")
        await asyncio.sleep(0.1)
        assert scene.api.deleted == ["hog"]


async def test_the_node_is_freed_before_anybody_goes():
    scene = AgentScene(HOG, reclaims=True)
    scene.node.uses = {"hog": 10 * MIB}
    scene.node.disk_free, scene.node.garbage = 50 * MIB, 200 * MIB
    async with scene.running():
        await asyncio.sleep(5)
    assert scene.node.freed == [("DeleteUnusedContainers", "DeleteUnusedImages")]
    assert scene.api.deleted == []


async def test_where_there_is_no_garbage_the_right_pod_goes_after_it_was_looked_for():
    scene = AgentScene(HOG, CALM, reclaims=True)
    scene.node.uses = {"hog": 20 * MIB, "calm": 10 * MIB}
    scene.node.disk_free = 50 * MIB
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.node.freed
    assert scene.api.deleted == ["hog"]


async def test_what_is_noticed_all_the_time_keeps_no_clean_up_from_its_end():
    scene = AgentScene(HOG, reclaims=True)
    scene.node.uses = {"hog": 10 * MIB}
    scene.node.disk_free, scene.node.garbage, scene.node.freeing_takes = 50 * MIB, 200 * MIB, 20.0
    async with scene.running():
        for _ in range(220):
            scene.wake.notice("usage")
            await asyncio.sleep(0.1)
    assert scene.node.garbage == 0
    assert len(scene.node.freed) == 1
    assert scene.api.deleted == []


async def test_memory_is_looked_at_while_the_node_is_freed_though_nothing_is_noticed():
    scene = AgentScene(HOG, reclaims=True)
    scene.node.uses = {"hog": 10 * MIB}
    scene.node.disk_free, scene.node.garbage, scene.node.freeing_takes = 50 * MIB, 200 * MIB, 100.0
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(11)
        assert scene.api.deleted == ["hog"]


async def test_what_cannot_be_freed_is_told_with_its_reason():
    scene = AgentScene(HOG, reclaims=True)
    scene.node.uses = {"hog": 10 * MIB}
    scene.node.disk_free, scene.node.cannot_free = 50 * MIB, "the runtime does not answer"
    async with scene.running():
        await asyncio.sleep(1)
    assert any("the runtime does not answer" in one for one in scene.standing.complaints)
    assert scene.api.deleted == []
    scene.node.cannot_free, scene.node.disk_free = "", 500 * MIB
    await scene.rounds.one()
    assert scene.standing.complaints == []


async def test_where_the_node_cannot_be_freed_memory_and_its_grace_periods_go_on():
    scene = AgentScene(
        HOG,
        reclaims=True,
        configuration=KubeletConfiguration(
            eviction_hard={"imagefs.available": "10%"},
            eviction_soft={"memory.available": "100Mi"},
            eviction_soft_grace_period={"memory.available": "60s"},
        ),
    )
    scene.node.uses = {"hog": 950 * MIB}
    scene.node.disk_free, scene.node.cannot_free = 50 * MIB, "the runtime does not answer"
    async with scene.running():
        await asyncio.sleep(50)
        assert scene.api.deleted == []
        assert "DiskPressure" in scene.standing.describe()["conditions"]
        await asyncio.sleep(30)
    assert scene.api.deleted == ["hog"]
