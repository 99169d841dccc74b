"""What the cluster is told of the node: Events and conditions, each for itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bailiff.bootstrap.agent import _until
from bailiff.cluster import ForbiddenError, NotFoundError, ServerError, UnreachableError
from bailiff.kinds.node import Node, NodeMeta
from tests.harness.agent_scene import MIB, AgentScene, pressed

pytestmark = pytest.mark.looptime(start=0)


def publishing(**settings: Any) -> AgentScene:
    """A node that is low, and whose conditions are written."""
    scene = pressed(publishes=True, **settings)
    scene.facts.node = Node(metadata=NodeMeta(name="node", uid="1"))
    return scene


def written(scene: AgentScene, what: str) -> int:
    return scene.api.done.count((what, "node"))


def reasons(scene: AgentScene) -> list[str]:
    return [reason for reason, of in scene.api.events if of == "node"]


async def test_conditions_are_written_when_they_change_and_every_five_minutes():
    scene = publishing()
    scene.node.uses = {"hog": 10 * MIB}
    async with scene.running():
        await asyncio.sleep(295)
        assert written(scene, "conditions") == 1
        await asyncio.sleep(20)
        assert written(scene, "conditions") == 2
        scene.node.uses = {"hog": 950 * MIB}
        await asyncio.sleep(11)
        assert written(scene, "conditions") == 3


async def test_conditions_are_not_written_unless_they_are_to_be():
    scene = publishing()
    scene.teller._publishes = False
    async with scene.running():
        await asyncio.sleep(600)
    assert written(scene, "conditions") == 0
    # Nor told of: they would not be so.
    assert reasons(scene) == ["EvictionThresholdMet"]


async def test_events_are_told_once_in_ten_minutes():
    scene = publishing()
    scene.node.lies_there, scene.stays_in_the_api = {"uid-hog"}, {"hog"}
    async with scene.running():
        for _ in range(8):
            await asyncio.sleep(60)
            scene.node.uses = {"hog": 950 * MIB}
    assert reasons(scene).count("EvictionThresholdMet") == 1
    assert "NodeHasInsufficientMemory" in reasons(scene)


async def test_an_event_that_is_refused_keeps_no_condition_unwritten(monkeypatch):
    scene = publishing()
    tries = 0

    async def refuse(*_):
        nonlocal tries
        tries += 1
        raise ForbiddenError("cannot create resource events", status=403)

    monkeypatch.setattr(scene.api, "report", refuse)
    async with scene.running():
        await asyncio.sleep(30)
        assert written(scene, "conditions") == 1
        assert any("about Events: cannot create" in one for one in scene.standing.complaints)
    # Each was tried once.
    assert tries == 2


@pytest.mark.parametrize(
    "failure",
    [
        # As of a namespace that is gone.
        NotFoundError("no namespace", status=404),
        ServerError("failed calling webhook", status=500),
        ForbiddenError("cannot create", status=403),
    ],
    ids=lambda error: str(error.status),
)
async def test_an_event_that_can_never_be_written_keeps_no_other(monkeypatch, failure):
    scene = publishing()
    real = scene.api.report

    async def report(about, note, at, component):
        if note.reason == "NodeHasInsufficientMemory":
            raise failure
        await real(about, note, at, component)

    monkeypatch.setattr(scene.api, "report", report)
    async with scene.running():
        await asyncio.sleep(30)
    assert reasons(scene) == ["EvictionThresholdMet"]


async def test_an_event_that_is_under_way_at_the_end_is_not_lost():
    scene = pressed()
    scene.api.takes = 0.05
    stop = asyncio.Event()
    # After the delete, and its phase.
    asyncio.get_running_loop().call_later(0.17, stop.set)
    await _until(stop, scene.rounds, (scene.teller.run,))
    await scene.teller.write()
    assert ("Evicted", "hog") in scene.api.events


async def test_an_event_that_failed_is_tried_again(monkeypatch):
    scene = publishing()
    real, fails = scene.api.report, True

    async def report(*given):
        if fails:
            raise UnreachableError("no connection")
        await real(*given)

    monkeypatch.setattr(scene.api, "report", report)
    async with scene.running():
        await asyncio.sleep(15)
        assert reasons(scene) == []
        fails = False
        await asyncio.sleep(11)
    assert sorted(reasons(scene)) == ["EvictionThresholdMet", "NodeHasInsufficientMemory"]
    assert not any("about Events" in one for one in scene.standing.complaints)


async def test_a_condition_that_is_refused_keeps_no_event_and_is_told_of(monkeypatch):
    scene = publishing()

    async def refuse(*_, **__):
        raise ForbiddenError("cannot patch nodes/status", status=403)

    monkeypatch.setattr(scene.api, "write", refuse)
    async with scene.running():
        await asyncio.sleep(15)
    assert "EvictionThresholdMet" in reasons(scene)
    assert any("the node's conditions: cannot" in one for one in scene.standing.complaints)
