"""Memory of pods that the API does not tell of: nobody else is to go for it, for a while."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from bailiff.kinds import Annotations, PodStatus
from tests.harness.agent_scene import MIB, AgentScene, pod

pytestmark = pytest.mark.looptime(start=0)

CALM, LATE = pod("calm", asks="300Mi"), pod("late")


def haunted(**settings) -> AgentScene:
    """50 MiB are left, where 100 are wanted; what uses most is no pod of the API."""
    scene = AgentScene(CALM, **settings)
    scene.node.uses = {"ghost": 750 * MIB, "calm": 200 * MIB}
    return scene


async def test_nobody_goes_while_a_pod_uses_more_that_the_api_does_not_tell_of():
    scene = haunted()
    async with scene.running():
        await asyncio.sleep(119)
        assert scene.api.deleted == []
        assert "default/ghost (uid-ghost)" in scene.standing.describe()["waits"]


async def test_after_two_minutes_the_others_go_all_the_same():
    scene = haunted()
    async with scene.running():
        await asyncio.sleep(125)
    assert scene.api.deleted == ["calm"]


async def test_whoever_is_told_of_at_last_goes_first():
    scene = haunted()
    scene.node.uses = {"late": 750 * MIB, "calm": 200 * MIB}
    async with scene.running():
        await asyncio.sleep(5)
        scene.tell_pods(CALM, LATE)
        await asyncio.sleep(6)
        assert scene.standing.describe()["waits"] == ""
    assert scene.api.deleted == ["late"]


async def test_one_that_has_finished_and_still_uses_its_memory_keeps_the_others_as_well():
    scene = haunted()
    ended = replace(pod("ghost"), status=PodStatus(phase="Failed"))
    scene.tell_pods(CALM, ended)
    async with scene.running():
        await asyncio.sleep(60)
        assert scene.api.deleted == []


async def test_as_soon_as_it_has_ended_the_next_round_is():
    scene = haunted()
    async with scene.running():
        await asyncio.sleep(2.5)
        scene.node.uses = {"calm": 950 * MIB}
        await asyncio.sleep(1)
        assert scene.api.deleted == ["calm"]


async def test_a_static_pod_is_none_though_its_name_cannot_be_read():
    scene = haunted()
    shown = pod("etcd", uid="uid-shown", priority=2_000_001_000)
    annotations = Annotations(config_mirror="uid-ghost")
    shown = replace(shown, metadata=replace(shown.metadata, annotations=annotations))
    scene.tell_pods(CALM, shown)
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted == ["calm"]


async def test_one_whose_successor_has_its_name_is_one_all_the_same():
    scene = haunted()
    scene.tell_pods(CALM, pod("ghost", uid="uid-successor"))
    async with scene.running():
        await asyncio.sleep(60)
        assert scene.api.deleted == []


async def test_what_is_left_of_a_cgroup_is_worth_no_wait():
    scene = haunted()
    scene.node.uses = {"ghost": 4096, "calm": 950 * MIB}
    scene.tell_pods(CALM, pod("first"))
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted[0] == "first"


async def test_one_that_uses_less_than_the_victim_keeps_nobody():
    scene = haunted()
    scene.node.uses = {"ghost": 100 * MIB, "calm": 850 * MIB}
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted == ["calm"]


async def test_a_disk_that_is_low_is_no_matter_of_their_memory():
    scene = haunted()
    scene.node.uses = {"ghost": 300 * MIB, "calm": 200 * MIB}
    scene.node.disk_free = 10 * MIB
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted == ["calm"]


async def test_a_pod_over_a_limit_of_its_own_goes_all_the_same():
    scene = haunted()
    scene.tell_pods(pod("calm", asks="300Mi", limit="100Mi"))
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted == ["calm"]


async def test_one_that_has_not_begun_to_run_is_waited_for_by_nobody():
    """Of a pod that waits for its image there is nothing that could be free later."""
    scene = haunted()
    scene.node.uses = {"calm": 950 * MIB}
    pending = [
        replace(pod(name), status=PodStatus(phase="Pending")) for name in ("first", "second")
    ]
    scene.tell_pods(CALM, *pending)
    scene.lingers, scene.api.takes = True, 0.01
    async with scene.running():
        await asyncio.sleep(1)
    assert set(scene.api.deleted) == {"first", "second", "calm"}


async def test_a_victim_without_a_cgroup_has_left_when_the_api_says_so():
    """That nothing of it is seen proves nothing: it never was, and frees nothing anybody sees."""
    scene = haunted()
    scene.node.uses = {"calm": 950 * MIB}
    scene.tell_pods(CALM, pod("first"), pod("second"))
    scene.stays_in_the_api = {"first"}
    async with scene.running():
        await asyncio.sleep(20)
        assert scene.api.deleted == ["first"]
        scene.tell_pods(CALM, pod("second"))
        await asyncio.sleep(1.5)
        assert scene.api.deleted[:2] == ["first", "second"]
