"""What an agent tells of itself: at its status port, in metrics, in its log."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from msgspec.structs import replace

from bailiff.cluster import TooManyRequestsError
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pressed, soft

pytestmark = pytest.mark.looptime(start=0)


async def test_in_shadow_nothing_is_done_and_the_kubelet_s_deeds_are_compared():
    scene = pressed(shadow=True)
    async with scene.running():
        await asyncio.sleep(4)
        status = replace(HOG.status, phase="Failed", reason="Evicted")
        scene.tell_pods(replace(HOG, status=status), CALM)
        await asyncio.sleep(1)
    assert scene.api.deleted == []
    (told,) = scene.standing.describe()["chosen"]
    assert told["pod"] == "default/hog"
    assert told["earlierBySeconds"] == "4.000"


async def test_a_shadow_says_once_who_would_go(capfd):
    scene = pressed(shadow=True)
    async with scene.running():
        await asyncio.sleep(35)
    said = [one for one in capfd.readouterr().err.splitlines() if "would be evicted" in one]
    assert len(said) == 1
    assert "pod=default/hog" in said[0]


async def test_each_reason_for_which_nobody_goes_is_said_and_said_once(capfd):
    scene = pressed()
    scene.node.broken = "socket hangs"
    async with scene.running():
        await asyncio.sleep(25)
        scene.facts._listed = False
        await asyncio.sleep(20)
        scene.facts._listed = True
        await asyncio.sleep(20)
    said = [line for line in capfd.readouterr().err.splitlines() if "nobody is evicted" in line]
    assert ["hangs" in line for line in said] == [True, False, True]


async def test_a_threshold_is_said_once_when_it_is_met(capfd):
    scene = pressed(configuration=soft("60s"))
    async with scene.running():
        await asyncio.sleep(45)
    said = [line for line in capfd.readouterr().err.splitlines() if "threshold met" in line]
    assert len(said) == 1
    assert "signal=memory.available" in said[0]


async def test_that_an_eviction_failed_is_no_matter_once_nobody_is_to_go():
    scene = pressed()
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.standing.complaints != []
        scene.node.uses = {"hog": 10 * MIB}
        await asyncio.sleep(5)
    assert scene.standing.complaints == []


async def test_who_was_evicted_and_who_was_not_is_told(monkeypatch):
    scene = pressed()
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with scene.running():
        await asyncio.sleep(1)
        (told,) = scene.standing.describe()["chosen"]
        assert (told["pod"], told["fate"]) == ("default/hog", "failed")
        assert any("default/hog is not evicted: busy" in one for one in scene.standing.complaints)
        scene.api.fails = None
        await asyncio.sleep(5)
    (told,) = scene.standing.describe()["chosen"]
    assert told["fate"] == "evicted"
    assert scene.standing.complaints == []


async def test_a_threshold_that_cannot_be_met_is_told_of():
    limits = KubeletConfiguration(
        eviction_hard={"pid.available": "10%"}, enforce_node_allocatable=()
    )
    scene = AgentScene(HOG, configuration=limits)
    async with scene.running():
        await asyncio.sleep(1)
        why = "thresholds: not measured, so that nobody goes for it: pid.available"
        assert scene.standing.complaints == [why]
        scene.node.processes_left = 500
        await asyncio.sleep(10)
    assert scene.standing.complaints == []


def count(scene: AgentScene, name: str, **labels: str) -> float | None:
    return scene.metrics.registry.get_sample_value(name, labels)


async def test_what_is_not_measured_any_more_has_no_number():
    limits = KubeletConfiguration(
        eviction_hard={"pid.available": "10%"}, enforce_node_allocatable=()
    )
    scene = AgentScene(HOG, configuration=limits)
    scene.node.processes_left = 500
    await scene.rounds.one()
    left = partial(count, scene, "bailiff_agent_available", eviction_signal="pid.available")
    assert left() == 500
    scene.node.processes_left = None
    await scene.rounds.one()
    assert left() is None


async def test_a_shadow_counts_each_pod_once():
    scene = pressed(shadow=True)
    async with scene.running():
        await asyncio.sleep(35)
    told = {"eviction_signal": "memory.available", "fate": "onPaper"}
    assert count(scene, "bailiff_agent_attempts_total", **told) == 1


async def test_that_the_pods_were_listed_is_no_notice_of_the_kernel():
    scene = AgentScene(HOG)
    async with scene.running():
        await asyncio.sleep(1)
        scene.wake.notice("pods")
        await asyncio.sleep(1)
        assert count(scene, "bailiff_agent_notice_seconds_count") == 0
        scene.wake.notice("usage")
        await asyncio.sleep(1)
    assert count(scene, "bailiff_agent_notice_seconds_count") == 1


@pytest.mark.parametrize(
    ("shadow", "fates"), [(False, ["freed", "failed"]), (True, ["onPaper"])], ids=["acts", "shadow"]
)
async def test_what_is_freed_counts_from_nought_so_that_the_first_is_a_rise(shadow, fates):
    scene = pressed(shadow=shadow)
    for what in ("container", "sandbox", "image"):
        for fate in fates:
            assert count(scene, "bailiff_agent_freed_total", what=what, fate=fate) == 0
