"""What holds an eviction back, and when it lets go."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from bailiff.decisions.policies import (
    UNKNOWN,
    EvictionApi,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
    Window,
)
from bailiff.kinds import Annotations
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)

PAUSABLE = Policies(pause=Pause(namespace="ops"))
NOTICE = PauseNotice(by="anna", reason="migration")


def seconds(count: float):
    return START + timedelta(seconds=count)


async def test_a_pause_holds_until_it_is_taken_back():
    world = Governed(PAUSABLE)
    world.worker.set_pause(NOTICE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(100)
        assert world.deleted == []
        assert world.held("web") == {"cause": "paused", "message": "paused by anna: migration"}
        assert world.backlog() == {"paused": 1}
        world.worker.set_pause(None)
        await asyncio.sleep(1)
    assert world.deletions() == {"web": 100.0}


async def test_what_nobody_has_read_yet_pauses():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        assert world.held("web")["message"] == "ConfigMap ops/bailiff-pause has not been read yet"
        world.worker.set_pause(None)
        await asyncio.sleep(10)
        world.worker.set_pause(UNKNOWN)
        world.pod("next")
        await asyncio.sleep(10)
    assert world.deletions() == {"web": 10.0}


async def test_a_pause_may_end_by_itself():
    world = Governed(PAUSABLE)
    world.worker.set_pause(PauseNotice(until=seconds(60)))
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        assert world.held("web")["until"] == "2026-01-01T00:01:00Z"
        await asyncio.sleep(100)
    assert world.deletions() == {"web": 60.0}


async def test_a_pause_that_is_over_holds_nobody_and_costs_nothing():
    world = Governed(PAUSABLE)
    world.worker.set_pause(PauseNotice(until=seconds(-60)))
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        assert world.deletions() == {"web": 0.0}
        assert world.backlog() == {}


async def test_a_clock_that_is_put_right_brings_a_pause_back():
    world = Governed(PAUSABLE)
    world.worker.set_pause(PauseNotice(until=seconds(60)))
    world.tainted("n1")
    async with world.running():
        world.clock.step = timedelta(hours=1)
        world.pod("early")
        await asyncio.sleep(5)
        world.clock.step = timedelta()
        world.pod("web")
        await asyncio.sleep(100)
    assert list(world.deletions()) == ["early", "web"]
    assert world.deletions()["web"] == 60.0


async def test_a_pause_stops_those_that_stand_in_line_and_not_those_that_run():
    limits = Limits(total=Limit(concurrency=1))
    world = Governed(msgspec.structs.replace(PAUSABLE, limits=limits))
    world.worker.set_pause(None)
    world.latency = 5.0
    world.tainted("n1")
    for number in range(3):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_pause(NOTICE)
        await asyncio.sleep(1)
        # Told at once, though it is not their turn before the one that runs is through.
        assert world.backlog() == {"paused": 2}
        await asyncio.sleep(100)
        assert world.order() == ["pod-0"]
        assert world.backlog() == {"paused": 2}
        world.worker.set_pause(None)
        await asyncio.sleep(100)
    assert world.order() == ["pod-0", "pod-1", "pod-2"]


async def test_who_left_before_the_second_look_is_not_looked_at():
    limits = Limits(total=Limit(concurrency=1))
    world = Governed(msgspec.structs.replace(PAUSABLE, limits=limits))
    world.worker.set_pause(None)
    world.latency = 5.0
    world.tainted("n1")
    for number in range(4):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_pause(NOTICE)
        world.worker.pending.forget("uid-pod-3")
        await asyncio.sleep(100)
        assert world.backlog() == {"paused": 2}
        world.worker.set_pause(None)
        world.worker.pending.forget("uid-pod-2")
        await asyncio.sleep(100)
    assert world.order() == ["pod-0", "pod-1"]


async def test_a_window_opens_and_closes():
    # START is midnight.
    world = Governed(Policies(windows=(Window(start="00:02", end="00:03"),)))
    world.tainted("n1")
    world.pod("early")
    world.pod("inside", "n1", tolerating(seconds=130))
    world.pod("late", "n1", tolerating(seconds=200))
    async with world.running():
        await asyncio.sleep(600)
        assert world.deletions() == {"early": 120.0, "inside": 130.0}
        assert world.held("late")["until"] == "2026-01-02T00:02:00Z"


async def test_a_window_that_closes_stops_those_that_stand_in_line():
    limits = Limits(total=Limit(per_second=0.1))
    world = Governed(Policies(windows=(Window(start="00:00", end="00:01"),), limits=limits))
    world.tainted("n1")
    for number in range(10):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(600)
        assert len(world.deleted) == 6
        # The line is looked at only when a token comes, and then all of it: none may begin.
        assert world.backlog() == {"outside_window": 4}


async def test_protection_until_an_instant_and_until_it_is_taken_away():
    world = Governed(Policies(protection=True))
    world.tainted("n1")
    world.pod("for-ever", annotations=Annotations(do_not_evict="true"))
    world.pod("a-while", annotations=Annotations(do_not_evict="2026-01-01T00:00:30Z"))
    world.pod("none")
    async with world.running():
        await asyncio.sleep(100)
        assert world.deletions() == {"none": 0.0, "a-while": 30.0}
        world.pod("for-ever")
        await asyncio.sleep(1)
    assert world.deletions() == {"none": 0.0, "a-while": 30.0, "for-ever": 100.0}


async def test_exclusion_by_namespace_labels_that_come_and_change():
    selector = LabelSelector(match_labels={"evict": "never"})
    world = Governed(Policies(exclude=Exclusion(namespace_selector=selector)))
    world.tainted("n1")
    world.pod("a/web")
    world.pod("b/web")
    async with world.running():
        await asyncio.sleep(10)
        # Not known yet: nobody goes.
        assert world.backlog() == {"excluded": 2}
        world.worker.set_namespaces({"a": {"evict": "never"}, "b": {}})
        await asyncio.sleep(10)
        assert world.deletions() == {"b/web": 10.0}
        world.worker.set_namespaces({"a": {}, "b": {}})
        await asyncio.sleep(10)
    assert world.deletions() == {"b/web": 10.0, "a/web": 20.0}


async def test_what_is_held_and_may_stay_is_cancelled():
    world = Governed(PAUSABLE)
    world.tainted("n1", "n2")
    world.pod("stays")
    world.pod("goes", "n2")
    async with world.running():
        await asyncio.sleep(10)
        world.node("n1")
        await asyncio.sleep(10)
        assert world.queue(name="stays") == []
        assert world.notes_on("stays")[-1].startswith("Cancelling deletion of Pod default/stays")
        world.worker.set_pause(None)
        await asyncio.sleep(10)
    assert world.order() == ["goes"]


async def test_what_is_held_and_tolerated_longer_waits_for_its_new_time():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        world.pod("web", "n1", tolerating(seconds=60))
        await asyncio.sleep(1)
        world.worker.set_pause(None)
        await asyncio.sleep(100)
    assert world.deletions() == {"web": 60.0}


async def test_what_is_held_and_gone_is_forgotten():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        world.remove_pod("web")
        await asyncio.sleep(1)
        assert world.backlog() == {}
        world.worker.set_pause(None)
        await asyncio.sleep(10)
    assert world.requests == []


async def test_policies_that_are_taken_back_hold_nobody():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        world.worker.set_policies(Policies(eviction_api=EvictionApi()))
        await asyncio.sleep(1)
        assert world.deletions() == {"web": 10.0}
        assert world.requests == ["evict"]
        world.worker.set_policies(PAUSABLE)
        world.pod("next")
        await asyncio.sleep(10)
        assert world.backlog() == {"paused": 1}


async def test_a_retry_is_a_beginning():
    world = Governed(PAUSABLE)
    world.worker.set_pause(None)
    world.latency = 40.0
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_pause(NOTICE)
        # The attempt takes too long, and is given up.
        await asyncio.sleep(100)
        world.latency = 0.0
        assert world.requests == ["patch"]
        assert world.backlog() == {"paused": 1}
        world.worker.set_pause(None)
        await asyncio.sleep(10)
    assert world.order() == ["web"]


async def test_a_step_of_the_wall_clock_is_noticed_within_a_resync():
    world = Governed(Policies(windows=(Window(start="12:00", end="13:00"),)))
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
        world.clock.step = timedelta(hours=12)
        await asyncio.sleep(301)
    assert world.order() == ["web"]


async def test_shutdown_leaves_what_is_held():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(10)
    assert world.clock.monotonic() < 11
    assert world.requests == []


async def test_another_taint_takes_the_place_of_the_one_for_which_it_is_held():
    world = Governed(PAUSABLE)
    world.tainted("n1")
    world.pod("web", "n1", tolerating("other", seconds=0))
    async with world.running():
        await asyncio.sleep(10)
        world.node("n1", no_execute("other"))
        await asyncio.sleep(1)
        (shown,) = world.queue()
        assert shown["message"].startswith("taint other:NoExecute is tolerated by other")
        assert shown["hold"]["cause"] == "paused"
