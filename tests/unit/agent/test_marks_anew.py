"""Once somebody has gone memory is free: a mark that has told may tell of the next at once."""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.agent_scene import MIB, AgentScene, pod

pytestmark = pytest.mark.looptime(start=0)


@pytest.fixture
async def scene():
    made = AgentScene(pod("hog"), pod("calm", asks="300Mi"))
    made.node.uses = {"hog": 750 * MIB, "calm": 200 * MIB}
    return made


@pytest.fixture
def done(scene, monkeypatch):
    """What the notifier is asked for, in order."""
    done: list[str] = []
    notifier = scene.rounds._parts.notifier
    monkeypatch.setattr(notifier, "rearm", lambda _: done.append("rearm"))
    monkeypatch.setattr(notifier, "renew", lambda: done.append("renew"))
    return done


async def test_after_somebody_has_gone(scene, done):
    async with scene.running():
        await asyncio.sleep(5)
    assert scene.api.deleted == ["hog"]
    assert done == ["rearm", "renew", "rearm"]


async def test_not_where_nobody_goes(scene, done):
    scene.node.uses = {"hog": 100 * MIB, "calm": 200 * MIB}
    async with scene.running():
        await asyncio.sleep(5)
    assert done == ["rearm"]
