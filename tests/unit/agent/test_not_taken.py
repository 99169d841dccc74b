"""What becomes of an eviction that the API server does not take, or not now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from bailiff.cluster import (
    ConflictError,
    ForbiddenError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.decisions.pressure.extensions import PressureExtensions
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pod, pressed
from tests.harness.made_up_api import gone

pytestmark = pytest.mark.looptime(start=0)


def refuse(scene: AgentScene, monkeypatch, name: str, error: Exception) -> Callable[[], None]:
    """From now on deletes of this pod raise this; call what is returned, and they do not."""
    real, refuses = scene.api.delete, True

    async def delete(pod, grace):
        if refuses and pod.metadata.name == name:
            raise error
        await real(pod, grace)

    def stop() -> None:
        nonlocal refuses
        refuses = False

    monkeypatch.setattr(scene.api, "delete", delete)
    return stop


async def test_after_a_failed_eviction_the_next_round_is_soon():
    scene = pressed()
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.node.looks == [0, 2, 4]
        assert any("no connection" in one for one in scene.standing.complaints)
        scene.api.fails = None
        await asyncio.sleep(2)
    assert scene.api.deleted == ["hog"]
    assert scene.standing.complaints == []


async def test_one_whose_eviction_is_refused_keeps_nobody_else_for_a_minute(monkeypatch):
    scene = pressed()
    scene.node.uses["calm"] = 240 * MIB
    stop = refuse(scene, monkeypatch, "hog", ForbiddenError("a webhook says no", status=403))
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.api.deleted == ["calm"]
        scene.node.uses["hog"] = 950 * MIB
        await asyncio.sleep(40)
        stop()
        assert scene.api.deleted == ["calm"]
        await asyncio.sleep(30)
    assert scene.api.deleted == ["calm", "hog"]


@pytest.mark.parametrize(
    "error",
    [
        TooManyRequestsError("busy", status=429),
        UnauthorizedError("log in", status=401),
        ServerError("etcdserver: leader changed", status=500),
        ConflictError("written meanwhile", status=409),
    ],
    ids=lambda error: str(error.status),
)
async def test_what_may_pass_sends_no_innocent_pod(monkeypatch, error):
    scene = pressed()
    stop = refuse(scene, monkeypatch, "hog", error)
    async with scene.running():
        await asyncio.sleep(9)
        assert scene.api.deleted == []
        stop()
        await asyncio.sleep(2)
    assert scene.api.deleted == ["hog"]


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        # Of this pod alone, as far as can be seen.
        (ServerError("failed calling webhook", status=500), ["calm"]),
        # Of everybody: another would go for nothing as soon as it is over.
        (TooManyRequestsError("busy", status=429), []),
        (UnauthorizedError("log in", status=401), []),
    ],
    ids=["500", "429", "401"],
)
async def test_what_does_not_pass_keeps_others_where_it_is_everybody_s(monkeypatch, error, gone):
    scene = pressed()
    refuse(scene, monkeypatch, "hog", error)
    async with scene.running():
        await asyncio.sleep(30)
    assert scene.api.deleted == gone


async def test_what_fails_all_the_time_is_said_once(monkeypatch, capfd):
    scene = pressed()
    refuse(scene, monkeypatch, "hog", TooManyRequestsError("busy", status=429))
    async with scene.running():
        await asyncio.sleep(60)
    assert capfd.readouterr().err.count("not evicted") == 1


async def test_a_pod_that_is_gone_already_is_chosen_once():
    scene = pressed()
    scene.api.fails = gone()
    async with scene.running():
        await asyncio.sleep(5)
    assert [one["pod"] for one in scene.standing.describe()["chosen"]] == ["default/hog"]
    # What it uses yet is about to be free, so that the other waits.
    assert scene.standing.describe()["waits"]


COOL = PressureExtensions(cool_down="60s")


async def test_an_eviction_that_failed_begins_no_cool_down():
    scene = pressed(extensions=COOL)
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(5)
        scene.api.fails = None
        await asyncio.sleep(5)
        assert scene.api.deleted == ["hog"]


async def test_nobody_goes_during_the_cool_down_after_one_that_went():
    scene = pressed(extensions=COOL)
    scene.tell_pods(HOG, CALM, pod("other", asks="300Mi"))
    scene.node.uses |= {"calm": 150 * MIB, "other": 60 * MIB}
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses |= {"calm": 950 * MIB}
        scene.wake.notice("usage")
        await asyncio.sleep(50)
        assert scene.api.deleted == ["hog"]
        await asyncio.sleep(20)
        assert scene.api.deleted == ["hog", "calm"]


async def test_a_restart_ends_no_cool_down(tmp_path):
    """It is written down when the pod goes, and not when it has left."""
    file = tmp_path / "state"
    first = pressed(extensions=COOL, state_file=file)
    first.node.lies_there = {"uid-hog"}
    async with first.running():
        await asyncio.sleep(5)
    heir = AgentScene(CALM, extensions=COOL, state_file=file)
    heir.node.uses = {"calm": 950 * MIB}
    async with heir.running():
        await asyncio.sleep(50)
        assert heir.api.deleted == []
        await asyncio.sleep(15)
    assert heir.api.deleted == ["calm"]


async def test_whoever_keeps_writing_a_pod_does_not_keep_it(monkeypatch):
    """The last try is in any version of the pod, and of its UID alone."""
    scene = pressed()
    real, asked = scene.api.delete, list[str]()

    async def current(pod, terms, now):
        return replace(pod, metadata=replace(pod.metadata, resource_version="7"))

    async def delete(pod, grace):
        asked.append(pod.metadata.resource_version)
        if pod.metadata.resource_version:
            raise ConflictError("written meanwhile", status=409)
        await real(pod, grace)

    monkeypatch.setattr(scene.api, "set_status", current)
    monkeypatch.setattr(scene.api, "delete", delete)
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.api.deleted == ["hog"]
    assert asked == ["7", "7", ""]


async def test_a_pod_that_is_kept_ends_in_the_version_that_the_server_has(monkeypatch):
    """What the watch has told may be behind."""
    scene = pressed(keeps_pods=True)
    written = list[str]()

    async def current(pod):
        return replace(pod, metadata=replace(pod.metadata, resource_version="8"))

    async def set_status(pod, terms, now):
        written.append(pod.metadata.resource_version)
        if pod.metadata.resource_version != "8":
            raise ConflictError("another version", status=409)
        scene.node.uses.pop(pod.metadata.name)
        return pod

    monkeypatch.setattr(scene.api, "current", current)
    monkeypatch.setattr(scene.api, "set_status", set_status)
    async with scene.running():
        await asyncio.sleep(0.5)
    assert written == ["", "8"]
    assert [one["pod"] for one in scene.standing.describe()["chosen"]] == ["default/hog"]


async def test_a_connection_that_was_cut_is_no_api_server_that_is_away(monkeypatch):
    scene = pressed(stops=True)
    real, cuts = scene.api.delete, 1

    async def delete(pod, grace):
        nonlocal cuts
        if cuts:
            cuts -= 1
            raise UnreachableError("connection reset by peer")
        await real(pod, grace)

    monkeypatch.setattr(scene.api, "delete", delete)
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.api.deleted == ["hog"]
    assert scene.stopper.stopped == []


async def test_who_waits_for_an_unknown_pod_begins_no_cool_down():
    scene = pressed(extensions=COOL)
    scene.tell_pods(CALM)
    async with scene.running():
        await asyncio.sleep(15)
        scene.tell_pods(HOG, CALM)
        await asyncio.sleep(10)
        assert scene.api.deleted == ["hog"]


async def test_a_delete_that_was_taken_is_an_eviction_though_its_phase_takes_too_long(monkeypatch):
    scene = pressed()
    scene.api.takes = 6.0

    async def set_phase(pod, terms):
        await asyncio.sleep(3600)

    monkeypatch.setattr(scene.api, "set_phase", set_phase)
    async with scene.running():
        await asyncio.sleep(25)
    assert scene.api.deleted == ["hog"]
    assert [one["fate"] for one in scene.standing.describe()["chosen"]] == ["evicted"]


async def test_a_conflict_is_tried_again_at_once(monkeypatch):
    scene = pressed()
    real, conflicts = scene.api.delete, 2

    async def delete(pod, grace):
        nonlocal conflicts
        if conflicts:
            conflicts -= 1
            raise ConflictError("written meanwhile", status=409)
        await real(pod, grace)

    monkeypatch.setattr(scene.api, "delete", delete)
    async with scene.running():
        await asyncio.sleep(0.5)
    assert scene.api.deleted == ["hog"]
    assert scene.node.looks[0] == 0


async def test_a_pod_that_is_gone_has_no_phase_to_be_written(capfd, monkeypatch):
    async def set_phase(pod, terms):
        raise gone()

    scene = pressed()
    monkeypatch.setattr(scene.api, "set_phase", set_phase)
    async with scene.running():
        await asyncio.sleep(1)
    assert scene.api.deleted == ["hog"]
    assert "phase not written" not in capfd.readouterr().err


async def test_a_pod_that_has_ended_meanwhile_is_left_alone(monkeypatch):
    scene = pressed()

    async def ended(pod, terms, now):
        return replace(pod, status=replace(pod.status, phase="Succeeded"))

    monkeypatch.setattr(scene.api, "set_status", ended)
    async with scene.running():
        await asyncio.sleep(0.5)
        scene.tell_pods()
        scene.node.uses.clear()
        await asyncio.sleep(0.5)
    assert scene.api.deleted == []
