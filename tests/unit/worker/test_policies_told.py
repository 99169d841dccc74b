"""How people learn of what holds an eviction back."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from bailiff.decisions.policies import (
    Cause,
    Hold,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from bailiff.kinds import Annotations
from bailiff.worker.observe.policy_events import held_event
from bailiff.worker.timers.states import State
from tests.harness.clocks import START
from tests.harness.kinds import pod_of, tolerating
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)

PAUSABLE = Policies(pause=Pause(namespace="ops"))
NOTICE = PauseNotice(by="anna", reason="migration")


def seconds(count: float):
    return START + timedelta(seconds=count)


async def test_an_event_tells_once_that_a_policy_holds_and_never_that_a_limit_does():
    limits = Limits(total=Limit(per_second=0.1))
    world = Governed(msgspec.structs.replace(PAUSABLE, limits=limits))
    world.tainted("n1")
    world.pod("first")
    world.pod("second")
    world.worker.set_pause(NOTICE)
    async with world.running():
        await asyncio.sleep(700)
        world.worker.set_pause(PauseNotice(by="bob"))
        await asyncio.sleep(10)
        world.worker.set_pause(None)
        await asyncio.sleep(30)
    held = "Eviction of Pod default/{0} is held (paused): paused by anna: migration"
    marked = "Marking for deletion Pod default/{0}: taint maintenance:NoExecute is not tolerated"
    for name in ("first", "second"):
        assert world.notes_on(name) == [held.format(name), marked.format(name)]


async def test_the_audit_log_tells_what_held_and_for_how_long(tmp_path):
    log = tmp_path / "audit"
    limits = Limits(total=Limit(per_second=0.1))
    world = Governed(msgspec.structs.replace(PAUSABLE, limits=limits), audit_log=log)
    world.tainted("n1")
    world.pod("first")
    world.pod("second")
    world.worker.set_pause(NOTICE)
    async with world.running():
        await asyncio.sleep(60)
        world.worker.set_pause(None)
        await asyncio.sleep(30)
    first, second = map(json.loads, log.read_text().splitlines())
    paused = {"cause": "paused", "message": "paused by anna: migration"}
    assert [one["cause"] for one in first["held"]] == ["paused"]
    assert paused.items() <= first["held"][0].items()
    assert first["held"][0]["seconds"] == pytest.approx(60, abs=0.1)
    assert [one["cause"] for one in second["held"]] == ["paused", "rate_limited"]
    assert second["held"][1]["seconds"] == pytest.approx(10, abs=0.1)
    assert second["by"] == "delete"


async def test_the_queue_is_filtered_by_cause_and_state():
    world = Governed(Policies(protection=True, limits=Limits(total=Limit(per_second=0.001))))
    world.tainted("n1")
    world.pod("protected", annotations=Annotations(do_not_evict="true"))
    for number in range(3):
        world.pod(f"pod-{number}")
    world.pod("patient", "n1", tolerating(seconds=3600))
    async with world.running():
        await asyncio.sleep(10)
        assert [one["name"] for one in world.queue(cause=Cause.PROTECTED)] == ["protected"]
        assert [one["name"] for one in world.queue(cause=Cause.RATE_LIMITED)] == ["pod-1", "pod-2"]
        assert len(world.queue(state=State.HELD)) == 3
        assert [one["name"] for one in world.queue(state=State.WAITING)] == ["patient"]
        assert world.held("pod-1")["message"] == "no more than 0.001 a second in total"
        assert world.backlog() == {"protected": 1, "rate_limited": 2, "waiting": 1}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no window is open", "no window is open; until 2026-01-31T22:00:00Z unless"),
        ("the next opens at 2026-01-31T22:00:00Z", "opens at 2026-01-31T22:00:00Z"),
    ],
)
async def test_an_event_tells_an_instant_once(said, told):
    until = datetime(2026, 1, 31, 22, tzinfo=UTC)
    note = held_event(pod_of("web"), Hold(cause=Cause.OUTSIDE_WINDOW, message=said, until=until))
    assert told in note.message
    assert note.message.count("22:00:00Z") == 1
