"""When rounds are, and what they come to: on virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bailiff.cluster import TooManyRequestsError
from tests.harness.agent_scene import HOG, MIB, AgentScene, pod, pressed, soft

pytestmark = pytest.mark.looptime(start=0)


async def test_the_first_by_rank_goes_condition_first_then_the_delete_then_its_phase():
    scene = pressed()
    async with scene.running():
        await asyncio.sleep(1)
    hog = [what for what, of in scene.api.done if of == "hog"]
    assert hog == ["status", "delete in 1", "phase", "event"]
    assert scene.api.deleted == ["hog"]
    assert ("Evicted", "hog") in scene.api.events


async def test_without_notices_a_round_is_every_ten_seconds():
    scene = AgentScene(HOG)
    async with scene.running():
        await asyncio.sleep(35)
    assert scene.node.looks == [0, 10, 20, 30]


async def test_a_notice_makes_a_round_at_once():
    scene = AgentScene(HOG)
    async with scene.running():
        await asyncio.sleep(3)
        scene.node.uses = {"hog": 950 * MIB}
        scene.wake.notice("usage")
        await asyncio.sleep(0.01)
        assert scene.api.deleted == ["hog"]
    assert scene.node.looks[:2] == [0, 3]


async def test_a_storm_of_notices_is_one_round():
    scene = AgentScene(HOG)
    async with scene.running():
        await asyncio.sleep(3)
        for _ in range(1000):
            scene.wake.notice("usage")
        await asyncio.sleep(1)
    assert scene.node.looks == [0, 3]


async def test_no_round_runs_beside_another_and_what_was_noticed_meanwhile_is_not_lost():
    scene = pressed()
    scene.api.takes = 2.0
    async with scene.running():
        for _ in range(50):
            await asyncio.sleep(0.1)
            scene.wake.notice("usage")
        # Three writes of two seconds each.
        assert scene.node.looks == [0]
        await asyncio.sleep(2)
        assert scene.node.looks[1] == 6


async def test_a_grace_period_goes_on_over_a_restart(tmp_path):
    scene = pressed(configuration=soft("60s"), state_file=tmp_path / "state")
    async with scene.running():
        await asyncio.sleep(45)
    assert scene.api.deleted == []
    again = pressed(configuration=soft("60s"), state_file=tmp_path / "state")
    async with again.running():
        await asyncio.sleep(30)
    assert again.api.deleted == ["hog"]
    fresh = pressed(configuration=soft("60s"))
    async with fresh.running():
        await asyncio.sleep(30)
    assert fresh.api.deleted == []


async def test_where_nothing_can_be_measured_nobody_goes_and_it_recovers():
    scene = pressed()
    scene.node.broken = "socket hangs"
    async with scene.running():
        await asyncio.sleep(25)
        assert scene.api.done == []
        assert scene.standing.unknown == "socket hangs"
        scene.node.broken = ""
        await asyncio.sleep(10)
        assert scene.standing.unknown == ""
    assert scene.api.deleted == ["hog"]


async def test_a_stepped_clock_ends_no_grace_period():
    scene = pressed(configuration=soft("60s"))
    async with scene.running():
        await asyncio.sleep(15)
        scene.clock.step = timedelta(hours=1)
        await asyncio.sleep(40)
        assert scene.api.deleted == []
        await asyncio.sleep(10)
    assert scene.api.deleted == ["hog"]


async def test_a_fault_of_ours_ends_no_evictions(monkeypatch):
    scene = pressed()
    real, faulty = scene.judge.judge, True

    def judge(*given):
        if faulty:
            raise RecursionError
        return real(*given)

    monkeypatch.setattr(scene.judge, "judge", judge)
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.api.done == []
        assert "see the log" in scene.standing.unknown
        faulty = False
        await asyncio.sleep(10)
    assert scene.api.deleted == ["hog"]


async def test_an_eviction_that_has_begun_is_finished_when_the_agent_ends():
    scene = pressed()
    scene.api.takes = 1.0
    acting = asyncio.create_task(scene.rounds.run())
    await asyncio.sleep(0.5)
    scene.rounds.end()
    await acting
    assert scene.api.deleted == ["hog"]
    assert scene.node.looks == [0]


async def test_nobody_goes_by_what_was_measured_long_ago():
    scene = AgentScene(HOG)
    scene.node.stands_still = scene.clock.now()
    async with scene.running():
        await asyncio.sleep(125)
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(30)
        assert scene.api.deleted == []
        assert "nothing new was measured" in scene.standing.unknown
        scene.node.stands_still = None
        await asyncio.sleep(10)
    assert scene.api.deleted == ["hog"]


async def test_a_disk_that_stands_still_keeps_no_memory():
    scene = AgentScene(HOG)
    scene.node.disk_stands_still = scene.clock.now()
    async with scene.running():
        await asyncio.sleep(135)
        told = scene.standing.complaints
        assert any(one.startswith("disks: nodefs stands still for 130 s, imagefs") for one in told)
        assert scene.standing.unknown == ""
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(10)
        assert scene.api.deleted == ["hog"]
        scene.node.disk_stands_still = None
        await asyncio.sleep(10)
    assert scene.standing.complaints == []


async def test_an_eviction_that_fails_is_tried_again_by_the_same_measurement_until_that_is_old():
    """A disk is measured every ten seconds by a kubelet, and the try is every two."""
    scene = AgentScene(HOG)
    scene.node.uses, scene.node.disk_free = {"hog": 10 * MIB}, 50 * MIB
    scene.node.disk_stands_still = scene.clock.now()
    scene.api.fails = TooManyRequestsError("busy", status=429)
    async with scene.running():
        await asyncio.sleep(11)
        assert scene.node.looks == [0, 2, 4, 6, 8, 10]
        await asyncio.sleep(115)
        scene.api.fails = None
        await asyncio.sleep(600)
        assert scene.api.deleted == []
        # It is full as far as anybody knows.
        assert "DiskPressure" in scene.standing.describe()["conditions"]


async def test_by_a_disk_that_stands_still_nobody_goes_for_a_limit_of_its_own():
    """The pod may have freed by now what it had then."""
    over = pod("over", limit="100Mi")
    scene = AgentScene(over)
    scene.node.uses = {"over": 10 * MIB}
    scene.node.disk_stands_still = scene.clock.now()
    async with scene.running():
        await asyncio.sleep(75)
        scene.node.uses = {"over": 200 * MIB}
        await asyncio.sleep(100)
        assert scene.api.deleted == []
        scene.node.disk_stands_still = None
        await asyncio.sleep(11)
    assert scene.api.deleted == ["over"]


async def test_a_disk_that_stands_still_ends_no_grace_period_over_a_restart(tmp_path):
    scene = pressed(configuration=soft("600s"), state_file=tmp_path / "state")
    scene.node.disk_stands_still = scene.clock.now()
    async with scene.running():
        await asyncio.sleep(520)
    again = pressed(configuration=soft("600s"), state_file=tmp_path / "state")
    again.node.disk_stands_still = scene.node.disk_stands_still
    async with again.running():
        await asyncio.sleep(110)
    assert again.api.deleted == ["hog"]


async def test_after_a_clock_was_put_back_nothing_is_old():
    scene = AgentScene(HOG)
    async with scene.running():
        await asyncio.sleep(5)
        scene.clock.step = timedelta(hours=-1)
        scene.node.uses = {"hog": 950 * MIB}
        scene.wake.notice("usage")
        await asyncio.sleep(0.5)
        assert scene.api.deleted == ["hog"]


async def test_of_two_of_one_name_the_one_that_is_ranked_first_goes():
    scene = AgentScene(pod("hog", uid="uid-new"), HOG)
    scene.node.uses = {"hog": 950 * MIB}
    async with scene.running():
        await asyncio.sleep(1)
    # Of the new one nothing is measured, so that it is the first by rank.
    assert scene.api.deleted == ["hog"]
    assert scene.standing.describe()["chosen"][0]["uid"] == "uid-new"
