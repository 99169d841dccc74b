"""Where the API server is away: containers are stopped, and it is told afterwards."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from bailiff.cluster import (
    RequestTimeoutError,
    ServerError,
    UnreachableError,
)
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, low_disk, pod, pressed, soft

pytestmark = pytest.mark.looptime(start=0)


@pytest.mark.parametrize("allowed", [True, False])
async def test_containers_are_stopped_without_the_api_server_where_that_is_allowed(allowed):
    scene = pressed(stops=allowed)
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.stopper.stopped[:1] == ([("hog", 1)] if allowed else [])


async def test_a_server_that_fails_by_itself_is_not_away():
    scene = pressed(stops=True)
    scene.api.fails = ServerError("failed calling webhook", status=500)
    async with scene.running():
        await asyncio.sleep(1.5)
    assert scene.stopper.stopped == []


async def test_the_api_server_is_told_soon_after_it_is_back():
    scene = pressed(stops=True)
    scene.node.uses = {"hog": 950 * MIB, "calm": 0}
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses.clear()
        await asyncio.sleep(59)
        scene.api.fails = None
        await asyncio.sleep(11)
        assert scene.api.deleted == ["hog"]


async def test_the_instant_that_is_told_is_that_of_the_stop(monkeypatch):
    scene = pressed(stops=True)
    real, told = scene.api.set_status, list[datetime]()

    async def set_status(pod, terms, now):
        found = await real(pod, terms, now)
        told.append(now)
        return found

    monkeypatch.setattr(scene.api, "set_status", set_status)
    began = scene.clock.now()
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses.clear()
        await asyncio.sleep(3600)
        scene.api.fails = None
        await asyncio.sleep(15)
    assert [at - began < timedelta(seconds=1) for at in told] == [True]


async def test_the_api_server_is_told_afterwards_even_after_a_restart(tmp_path):
    scene = pressed(stops=True, state_file=tmp_path / "state")
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
    again = AgentScene(HOG, state_file=tmp_path / "state")
    async with again.running():
        await asyncio.sleep(15)
    assert again.api.deleted == ["hog"]
    assert again.remembering.untold == ()


async def test_a_soft_threshold_stops_no_containers():
    scene = pressed(stops=True, configuration=soft("1s"), interval=1.0)
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(20)
    assert len(scene.node.looks) > 3
    assert scene.stopper.stopped == []


async def test_for_a_disk_no_containers_are_stopped():
    """A stopped container keeps its layer: nothing is freed, and the next would be stopped."""
    scene = low_disk(HOG, CALM, stops=True)
    scene.node.uses, scene.node.garbage = {"hog": 300 * MIB, "calm": 100 * MIB}, 0
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(60)
        assert scene.standing.describe()["chosen"]
    assert scene.stopper.stopped == []


async def test_one_whose_containers_cannot_be_stopped_keeps_no_other(monkeypatch):
    scene = pressed(stops=True)
    scene.api.fails = UnreachableError("no connection")
    real = scene.stopper.stop

    async def stop(pod, grace):
        return False if pod.metadata.name == "hog" else await real(pod, grace)

    monkeypatch.setattr(scene.stopper, "stop", stop)
    async with scene.running():
        await asyncio.sleep(30)
    assert scene.stopper.stopped[:1] == [("calm", 1)]


async def test_what_was_announced_of_one_that_was_stopped_is_not_taken_back(monkeypatch):
    scene = pressed(stops=True)
    real, fails = scene.api.delete, True

    async def delete(pod, grace):
        if fails:
            raise RequestTimeoutError("no answer within 5 s")
        await real(pod, grace)

    monkeypatch.setattr(scene.api, "delete", delete)
    async with scene.running():
        await asyncio.sleep(0.5)
        scene.node.uses = {"calm": 10 * MIB}
        await asyncio.sleep(25)
        fails = False
        await asyncio.sleep(20)
    assert ("reset", "hog") not in scene.api.done
    assert scene.api.deleted == ["hog"]


async def test_what_is_told_again_and_again_is_not_taken_back_between(monkeypatch):
    scene = pressed(stops=True)
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses, scene.api.fails = {"calm": 10 * MIB}, None

        async def delete(pod, grace):
            raise ServerError("failed calling webhook", status=500)

        monkeypatch.setattr(scene.api, "delete", delete)
        await asyncio.sleep(60)
        assert ("reset", "hog") not in scene.api.done


async def test_a_pod_without_containers_keeps_nobody_from_being_stopped():
    scene = pressed(stops=True)
    scene.tell_pods(HOG, CALM, pod("pending"))
    scene.api.fails = UnreachableError("no connection")
    scene.stopper.runs_nothing = {"pending"}
    async with scene.running():
        await asyncio.sleep(5)
    assert [who for who, _ in scene.stopper.stopped] == ["hog"]


async def test_on_paper_nobody_is_told_of_those_that_were_stopped(tmp_path):
    scene = pressed(stops=True, state_file=tmp_path / "state")
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
    again = AgentScene(HOG, state_file=tmp_path / "state", dry_run=True)
    async with again.running():
        await asyncio.sleep(15)
    assert [one.name for one in again.remembering.untold] == ["hog"]
    assert again.api.done == []


async def test_one_of_which_the_api_server_cannot_be_told_keeps_no_other_untold(monkeypatch):
    scene = pressed(stops=True)
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses, scene.stopper.runs_nothing = {"calm": 950 * MIB}, {"hog"}
        scene.wake.notice("usage")
        await asyncio.sleep(5)
        assert [who for who, _ in scene.stopper.stopped] == ["hog", "calm"]
        scene.node.uses.clear()
        real, scene.api.fails = scene.api.set_status, None

        async def set_status(pod, terms, now):
            if pod.metadata.name == "hog":
                raise ServerError("of this pod alone", status=500)
            return await real(pod, terms, now)

        monkeypatch.setattr(scene.api, "set_status", set_status)
        await asyncio.sleep(30)
    assert scene.api.deleted == ["calm"]
    assert [one.name for one in scene.remembering.untold] == ["hog"]
