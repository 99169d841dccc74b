"""How pods go: guards, retries, order, shutdown; on virtual time."""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from structlog.testing import capture_logs

from bailiff.cluster import (
    Changed,
    FencedError,
    ForbiddenError,
)
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import World, attempts, tainted

pytestmark = pytest.mark.looptime(start=0)


async def test_the_condition_is_written_before_the_delete_and_the_event_names_the_cause():
    world = tainted()
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1)
    assert world.requests == ["patch", "delete"]
    assert world.notes_on("plain") == [
        "Marking for deletion Pod default/plain: taint maintenance:NoExecute is not tolerated"
    ]


async def test_a_pod_that_changes_after_the_look_is_looked_at_again():
    world = tainted()
    world.latency = 1
    pod = world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1.5)
        assert world.requests == ["patch", "delete"]
        # The delete is on its way, and the watch has not told.
        world.deaf = True
        spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(),))
        world.pods["plain"] = msgspec.structs.replace(pod, spec=spec)
        await asyncio.sleep(60)
        # Every look takes a second, and waits between them grow to five.
        assert 5 < attempts(world, "conflict") < 20
        assert attempts(world, "kept") == 0
        world.put(world.pods["plain"])
        await asyncio.sleep(60)
    assert world.deleted == []
    assert [note.split(" ")[0] for note in world.notes_on("plain")] == ["Marking", "Cancelling"]


async def test_an_eviction_that_is_being_retried_is_cancelled_by_untainting():
    world = tainted()
    world.add_pod("plain")
    world.failures = [ForbiddenError("no", status=403)] * 3
    async with world.running():
        await asyncio.sleep(10)
        world.taint("n1")
        await asyncio.sleep(600)
    assert world.deleted == []
    assert world.notes_on("plain")[-1].startswith("Cancelling deletion of Pod default/plain")


async def test_untainting_while_the_condition_is_written_stops_the_delete():
    world = tainted()
    world.latency = 2
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1)
        world.taint("n1")
        await asyncio.sleep(600)
    assert world.requests == ["patch", "look", "reset"]
    assert len([n for n in world.notes_on("plain") if n.startswith("Cancelling")]) == 1


async def test_nothing_is_deleted_twice_while_the_watch_is_silent():
    world = tainted()
    world.deaf = True
    pod = world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1)
        world.pod_watch.send(Changed(pod))
        world.taint("n1", no_execute(), no_execute("other"))
        await asyncio.sleep(600)
    assert world.requests.count("delete") == 1


async def test_shutdown_lets_running_evictions_end_and_starts_no_more():
    world = tainted(concurrency=1)
    world.latency = 1
    world.add_pod("first")
    world.add_pod("second")
    async with world.running():
        await asyncio.sleep(0.5)
    assert list(world.deletions()) == ["first"]
    assert world.clock.monotonic() < 3


async def test_shutdown_tells_how_many_evictions_run_and_no_others():
    world = tainted(concurrency=2)
    world.add_pod("gone")
    world.deaf = True
    with capture_logs() as logs:
        async with world.running():
            await asyncio.sleep(0.5)
            world.latency = 1
            world.add_pod("first")
            world.add_pod("second")
            world.add_pod("third")
            world.add_pod("later", tolerating(seconds=100))
            await asyncio.sleep(0.5)
    [stops] = [entry for entry in logs if entry["event"] == "worker stops"]
    assert stops["running"] == 2


async def test_what_is_done_is_not_pending():
    world = tainted()
    world.deaf = True
    world.add_pod("plain")
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(1)
        assert len(world.worker.pending) == 2
        pending = world.registry.get_sample_value("bailiff_worker_evictions_pending")
    assert pending == 1


async def test_an_attempt_that_was_fenced_is_none_and_its_event_is_told_with_the_next(monkeypatch):
    world = tainted()
    world.add_pod("plain")
    world.failures = [FencedError("another leads")] * 3
    told, record = [], world.record

    async def fenced(*args):
        told.append(args)
        if len(told) < 4:
            raise FencedError("another leads")
        await record(*args)

    monkeypatch.setattr(world, "record", fenced)
    async with world.running():
        await asyncio.sleep(10)
    assert list(world.deletions()) == ["plain"]
    assert [note.split(" ")[0] for note in world.notes_on("plain")] == ["Marking"]


async def test_shutdown_does_not_wait_longer_than_its_grace_period():
    world = tainted(shutdown_grace=5.0)
    world.latency = 1000
    world.add_pod("stuck")
    async with world.running():
        await asyncio.sleep(1)
    assert world.deleted == []
    assert world.clock.monotonic() < 7


async def test_a_hung_request_is_given_up_and_tried_again():
    world = tainted(attempt_timeout=5.0)
    world.latency = 1000
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(4)
        world.latency = 0
        await asyncio.sleep(10)
    assert list(world.deletions()) == ["plain"]
    assert attempts(world, "unreachable") == 1


async def test_many_timers_each_at_its_own_second():
    world = World()
    world.taint("n1", no_execute())
    for number in range(200):
        world.add_pod(f"pod-{number}", tolerating(seconds=number + 1))
    async with world.running():
        await asyncio.sleep(1000)
    assert world.deletions() == {f"pod-{n}": n + 1.0 for n in range(200)}


async def test_what_fell_due_while_no_worker_ran_goes_in_the_order_of_the_deadlines():
    world = World(concurrency=1)
    world.taint("n1", no_execute(time_added=START - timedelta(minutes=10)))
    for seconds in (300, 100, 200):
        world.add_pod(f"after-{seconds}", tolerating(seconds=seconds))
    async with world.running():
        await asyncio.sleep(1)
    assert list(world.deletions()) == ["after-100", "after-200", "after-300"]
