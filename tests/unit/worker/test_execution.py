"""How pods go: guards, retries, order, shutdown; on virtual time."""

import asyncio

import msgspec
import pytest

from bailiff.cluster import (
    Changed,
    ConflictError,
    ForbiddenError,
    InvalidError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UnreachableError,
)
from tests.unit.worker.world import World, no_execute, tolerating

pytestmark = pytest.mark.looptime(start=0)


def tainted(**settings) -> World:
    world = World(**settings)
    world.taint("n1", no_execute())
    return world


def attempts(world: World, outcome: str) -> float:
    labels = {"outcome": outcome}
    return world.registry.get_sample_value("bailiff_worker_eviction_attempts_total", labels) or 0


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


@pytest.mark.parametrize(
    ("error", "outcome", "at_most"),
    [
        (ConflictError("changed", status=409), "conflict", 30),
        (TooManyRequestsError("wait", status=429, retry_after=7), "overloaded", 400),
        (ForbiddenError("webhook says no", status=403), "denied", 3000),
        (InvalidError("webhook says no", status=422), "denied", 3000),
        (ServerError("broken", status=500), "unreachable", 200),
        (UnreachableError("refused"), "unreachable", 200),
        (RequestTimeoutError("no answer"), "unreachable", 200),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_failures_are_retried_until_the_pod_is_gone(error, outcome, at_most):
    world = tainted()
    world.add_pod("plain")
    world.failures = [error] * 10
    async with world.running():
        await asyncio.sleep(at_most)
    assert list(world.deletions()) == ["plain"]
    assert attempts(world, outcome) == 10
    assert attempts(world, "deleted") == 1


async def test_the_server_is_left_alone_for_as_long_as_it_asks():
    world = tainted()
    world.add_pod("plain")
    world.failures = [TooManyRequestsError("wait", status=429, retry_after=500)]
    async with world.running():
        await asyncio.sleep(499)
        assert world.deleted == []
        await asyncio.sleep(2)
    assert list(world.deletions()) == ["plain"]


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
    assert world.requests == ["patch"]
    assert len([n for n in world.notes_on("plain") if n.startswith("Cancelling")]) == 1


async def test_a_pod_replaced_between_watch_and_delete_is_not_touched():
    world = tainted()
    world.add_pod("db-0", tolerating(seconds=10), uid="old")
    async with world.running():
        # The watch has not told yet that another pod has taken the name.
        world.pods["db-0"] = msgspec.structs.replace(
            world.pods["db-0"],
            metadata=msgspec.structs.replace(world.pods["db-0"].metadata, uid="new"),
        )
        await asyncio.sleep(60)
    assert world.deleted == []
    assert attempts(world, "replaced") == 1


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


async def test_at_most_so_many_at_a_time_and_the_earliest_first():
    world = tainted(concurrency=2)
    world.latency = 1
    for number in range(6):
        world.add_pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(60)
    # Two requests of a second each: two pods every two seconds.
    assert world.deletions() == {
        "pod-0": 2.0, "pod-1": 2.0, "pod-2": 4.0, "pod-3": 4.0, "pod-4": 6.0, "pod-5": 6.0,
    }  # fmt: skip


async def test_shutdown_lets_running_evictions_end_and_starts_no_more():
    world = tainted(concurrency=1)
    world.latency = 1
    world.add_pod("first")
    world.add_pod("second")
    async with world.running():
        await asyncio.sleep(0.5)
    assert list(world.deletions()) == ["first"]
    assert world.clock.monotonic() < 3


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


async def test_a_refusal_is_told_once_in_an_event_that_a_person_will_see():
    world = tainted()
    world.add_pod("plain")
    world.failures = [ForbiddenError("webhook says no", status=403)] * 5
    async with world.running():
        await asyncio.sleep(1000)
    notes = [note for note in world.notes_on("plain") if note.startswith("Cannot")]
    assert notes == ["Cannot evict Pod default/plain, trying again: webhook says no"]
    assert list(world.deletions()) == ["plain"]
