"""What was announced and does not come is taken back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import (
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UnreachableError,
)
from bailiff.decisions.pressure.findings import TERMS, evicted_at
from bailiff.kinds import Pod
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pressed
from tests.harness.clocks import START
from tests.harness.made_up_api import gone

pytestmark = pytest.mark.looptime(start=0)


def refuses(scene: AgentScene, monkeypatch, error: Exception) -> None:
    """Deletes, and tries of them, raise this; the condition is taken."""

    async def refuse(pod, grace=None):
        raise error

    monkeypatch.setattr(scene.api, "delete", refuse)


def done(scene: AgentScene, name: str) -> list[str]:
    return [what for what, of in scene.api.done if of == name and what != "event"]


async def test_after_a_no_the_condition_is_taken_back_at_once(monkeypatch):
    scene = pressed()
    refuses(scene, monkeypatch, ForbiddenError("a webhook says no", status=403))
    async with scene.running():
        await asyncio.sleep(0.5)
    assert done(scene, "hog") == ["status", "reset"]


async def test_who_was_refused_is_tried_on_paper_before_it_is_announced_again(monkeypatch):
    scene = pressed()
    no = ForbiddenError("a webhook says no", status=403)
    tried = list[str]()

    async def try_delete(pod):
        tried.append(pod.metadata.name)
        raise no

    refuses(scene, monkeypatch, no)
    monkeypatch.setattr(scene.api, "try_delete", try_delete)
    async with scene.running():
        await asyncio.sleep(200)
    assert done(scene, "hog") == ["status", "reset"]
    assert tried.count("hog") >= 2


async def test_what_fails_is_taken_back_once_nobody_is_to_go_any_more(monkeypatch):
    scene = pressed()
    refuses(scene, monkeypatch, TooManyRequestsError("busy", status=429))
    async with scene.running():
        await asyncio.sleep(5)
        assert "reset" not in done(scene, "hog")
        scene.node.uses = {"hog": 10 * MIB}
        await asyncio.sleep(5)
    assert done(scene, "hog")[-1] == "reset"
    assert scene.evictor.announced.only(()) is False


async def test_what_cannot_be_taken_back_is_tried_again(monkeypatch):
    scene = pressed()
    refuses(scene, monkeypatch, TooManyRequestsError("busy", status=429))
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses = {"hog": 10 * MIB}
        scene.api.fails = UnreachableError("no connection")
        await asyncio.sleep(20)
        assert "reset" not in done(scene, "hog")
        scene.api.fails = None
        await asyncio.sleep(11)
    assert done(scene, "hog")[-1] == "reset"


@pytest.mark.parametrize("error", [gone(), ForbiddenError("no", status=403)])
async def test_what_can_never_be_taken_back_is_forgotten(monkeypatch, error):
    scene = pressed()
    refuses(scene, monkeypatch, TooManyRequestsError("busy", status=429))
    tries = 0

    async def reset_condition(pod, condition, now):
        nonlocal tries
        tries += 1
        raise error

    monkeypatch.setattr(scene.api, "reset_condition", reset_condition)
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses = {"hog": 10 * MIB}
        await asyncio.sleep(60)
    assert tries == 1


async def test_of_a_pod_that_goes_nothing_is_taken_back():
    scene = pressed()
    async with scene.running():
        await asyncio.sleep(60)
    assert done(scene, "hog") == ["status", "delete in 1", "phase"]


def announced(pod: Pod, at) -> Pod:
    assert TERMS.condition is not None
    condition = replace(TERMS.condition, message="m", last_transition_time=at)
    return replace(pod, status=replace(pod.status, conditions=(condition,)))


async def test_a_pod_that_was_refused_is_not_taken_for_one_that_leaves():
    """It has the condition, stays, and is nobody to wait for after a restart."""
    scene = pressed()
    now = scene.clock.now()
    hog = announced(HOG, now - timedelta(seconds=1))
    assert evicted_at(hog) is None
    scene.tell_pods(hog, CALM)
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.api.deleted == ["hog"]
    ending = replace(hog, metadata=replace(hog.metadata, deletion_timestamp=now))
    assert evicted_at(ending) == now - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("seconds", "grace", "at"), [(1, 1, 0), (30, 31, -1), (5, None, 5), (None, None, None)]
)
def test_one_that_went_for_a_limit_of_its_own_went_when_it_was_deleted(seconds, grace, at):
    """It has no condition."""
    status = replace(HOG.status, phase="Failed", reason="Evicted")
    ends = None if seconds is None else START + timedelta(seconds=seconds)
    meta = replace(HOG.metadata, deletion_timestamp=ends, deletion_grace_period_seconds=grace)
    found = evicted_at(replace(HOG, status=status, metadata=meta))
    assert found == (None if at is None else START + timedelta(seconds=at))


def test_a_grace_period_beyond_all_time_is_no_fault():
    status = replace(HOG.status, phase="Failed", reason="Evicted")
    meta = replace(HOG.metadata, deletion_timestamp=START, deletion_grace_period_seconds=2**63 - 1)
    assert evicted_at(replace(HOG, status=status, metadata=meta)) is None


async def test_a_proxy_s_404_is_no_pod_that_is_gone(monkeypatch):
    scene = pressed()
    refuses(scene, monkeypatch, NotFoundError("404 page not found", status=404))
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.facts.pods == (HOG, CALM)


async def test_a_condition_whose_answer_did_not_come_is_taken_back_as_well(monkeypatch):
    """The write may have been carried out."""
    scene = pressed()

    async def set_status(pod, terms, now):
        raise RequestTimeoutError("no answer within 5 s")

    monkeypatch.setattr(scene.api, "set_status", set_status)
    async with scene.running():
        await asyncio.sleep(1)
        scene.node.uses = {"hog": 10 * MIB}
        await asyncio.sleep(10)
    assert done(scene, "hog") == ["reset"]


async def test_what_an_agent_of_before_has_announced_is_taken_back_unless_the_pod_goes():
    scene = pressed()
    now = scene.clock.now()
    scene.tell_pods(announced(HOG, now), announced(CALM, now))
    async with scene.running():
        await asyncio.sleep(30)
    assert scene.api.deleted == ["hog"]
    assert "reset" not in done(scene, "hog")
    assert done(scene, "calm") == ["reset"]


async def test_what_is_announced_again_while_it_is_taken_back_is_taken_back_once_more(monkeypatch):
    scene = pressed()
    refuses(scene, monkeypatch, TooManyRequestsError("busy", status=429))
    real, holds = scene.api.reset_condition, asyncio.Event()

    async def reset_condition(pod, condition, now):
        await holds.wait()
        await real(pod, condition, now)

    monkeypatch.setattr(scene.api, "reset_condition", reset_condition)
    async with scene.running():
        await asyncio.sleep(1)
        for uses in (10, 940, 10):
            scene.node.uses = {"hog": uses * MIB, "calm": MIB}
            scene.wake.notice("usage")
            await asyncio.sleep(0.5)
        holds.set()
        await asyncio.sleep(30)
    assert done(scene, "hog")[-1] == "reset"
    assert done(scene, "hog").count("reset") == 2


async def test_who_fails_six_times_is_tried_on_paper_before_the_next_try(monkeypatch):
    scene = pressed()
    failed = ServerError("failed calling webhook", status=500)

    async def try_delete(pod):
        raise failed

    refuses(scene, monkeypatch, failed)
    monkeypatch.setattr(scene.api, "try_delete", try_delete)
    async with scene.running():
        await asyncio.sleep(20)
        first = done(scene, "hog").count("status")
        await asyncio.sleep(300)
    assert done(scene, "hog").count("status") == first
