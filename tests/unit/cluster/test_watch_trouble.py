"""What a ListWatch says of itself: trouble told from silence, objects that cannot be decoded."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import ClusterSettings, Listing, ListWatch, Replaced, Restart, Unreadable
from bailiff.kinds import ObjectMeta, Pod
from tests.harness.clocks import LoopClock
from tests.harness.fake_cluster import Chunk, FakeCluster
from tests.harness.scripted_watch import event, mark, refusal, run, told
from tests.harness.watching import CountedWatch

if TYPE_CHECKING:
    from bailiff.cluster import Cluster

pytestmark = pytest.mark.looptime

YEAR_0 = "0000-01-01T00:00:00Z"


async def test_the_watch_goes_on_behind_an_object_that_cannot_be_decoded() -> None:
    stream: list[Chunk] = [
        event("ADDED", 1), event("ADDED", 2, "bad", creationTimestamp=YEAR_0), mark(5),
        event("MODIFIED", 6, creationTimestamp=YEAR_0), event("MODIFIED", 7, "bad"),
        event("DELETED", 8, "bad", creationTimestamp=YEAR_0), 1e6,
    ]  # fmt: skip
    watch, events = await run(FakeCluster([stream]))
    assert told(events) == ["=a", "?a", "+bad", "?bad"]
    whole, last = events[0], events[-1]
    assert isinstance(whole, Replaced)
    assert [one.metadata.name for one in whole.unreadable] == ["bad"]
    assert isinstance(last, Unreadable)
    assert last.deleted
    assert [one.metadata.resource_version for one in watch.unreadable] == ["2", "6", "8"]
    assert watch.health.resource_version == "8"
    assert not watch.restarts


async def test_a_list_goes_on_behind_what_cannot_be_decoded() -> None:
    bad = Unreadable(ObjectMeta(name="bad", resource_version="2"), "why")
    whole = Listing((Pod(metadata=ObjectMeta(name="a")),), "8", (bad,))
    fake = FakeCluster([], [whole])
    fake.settings = ClusterSettings(watch_initial_events=False)
    watch, events = await run(fake)
    assert told(events) == ["=a"]
    assert isinstance(events[0], Replaced)
    assert events[0].unreadable == (bad,)
    assert watch.unreadable == [bad]


IDLE = k8s.RequestTimeoutError("idle")


async def test_a_watch_of_what_never_changes_is_opened_again_at_once() -> None:
    silent: list[Chunk] = [90.0, IDLE]
    fake = FakeCluster([[mark(5), *silent], *[silent] * 9])
    clock, oldest = LoopClock(), 0.0
    watch = CountedWatch(cast("Cluster", fake), clock)

    async def look() -> None:
        nonlocal oldest
        while True:
            await asyncio.sleep(1)
            oldest = max(oldest, watch.health.age(clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        looking = group.create_task(look())
        reading = group.create_task(_read(watch))
        await asyncio.sleep(800)
        looking.cancel()
        reading.cancel()
    # For the moment between two watches, what was heard last is as old as the silence was long.
    assert oldest <= 90
    assert watch.restarts == {Restart.IDLE: 8}
    assert fake.waits == [90] * 8


async def _read(watch: ListWatch[Pod]) -> None:
    async with aclosing(watch.events()) as events:
        async for _ in events:
            pass


@pytest.mark.parametrize("failure", [IDLE, k8s.UnreachableError("no route"), refusal(503)])
async def test_a_connection_that_died_is_in_trouble_since_it_was_heard_last(
    failure: Exception,
) -> None:
    fake = FakeCluster([[mark(5), 20.0, event("BOOKMARK", 6), 90.0, IDLE], [1e6]])
    fake.version = [*[failure] * 3, "1000"]
    clock = LoopClock()
    began = clock.monotonic()
    watch = CountedWatch(cast("Cluster", fake), clock, random=Random(7))
    reading = asyncio.create_task(_read(watch))
    await asyncio.sleep(111)
    assert watch.health.age(clock.monotonic()) == pytest.approx(111 - 20)
    assert watch.health.last_error is failure
    await asyncio.sleep(60)
    well = watch.health
    assert well.age(clock.monotonic()) == 0
    assert well.last_error is None
    assert began < watch.health.last_contact  # type: ignore[operator]  # it has been heard
    reading.cancel()


async def test_a_watch_that_is_open_and_has_not_sent_everything_is_not_well_yet() -> None:
    clock = LoopClock()
    fake = FakeCluster([[event("ADDED", 1), 240.0, mark(5), 1e6]])
    watch = CountedWatch(cast("Cluster", fake), clock)
    reading = asyncio.create_task(_read(watch))
    await asyncio.sleep(230)
    assert watch.health.connected
    assert watch.health.age(clock.monotonic()) == pytest.approx(230)
    await asyncio.sleep(20)
    assert watch.health.age(clock.monotonic()) == 0
    reading.cancel()


async def test_any_answer_is_contact_and_a_watch_that_is_refused_is_trouble_all_the_same() -> None:
    clock = LoopClock()
    began = clock.monotonic()
    watch = CountedWatch(
        cast("Cluster", FakeCluster([[mark(5), 90.0, IDLE], *[refusal(403)] * 99])), clock
    )
    reading = asyncio.create_task(_read(watch))
    await asyncio.sleep(400)
    # The version that it is at has been answered each time.
    assert watch.health.last_contact is not None
    assert watch.health.last_contact - began > 300
    assert watch.health.age(clock.monotonic()) == pytest.approx(400)
    reading.cancel()


async def test_a_list_that_is_refused_is_trouble_from_the_start() -> None:
    clock = LoopClock()
    watch = CountedWatch(cast("Cluster", FakeCluster([refusal(500)] * 40)), clock)
    assert watch.health.age(clock.monotonic()) == 0
    reading = asyncio.create_task(_read(watch))
    await asyncio.sleep(300)
    assert watch.health.age(clock.monotonic()) == pytest.approx(300)
    assert watch.health.last_error is not None
    reading.cancel()
