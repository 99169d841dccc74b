"""ListWatch: of what it asks, what it makes of each object, and what it tells of a failure."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import (
    PODS,
    ClusterError,
    ClusterSettings,
    Keep,
    Listing,
    ListWatch,
    Replaced,
    Restart,
    Selection,
)
from bailiff.kinds import LABELS_NOT_KEPT, ObjectMeta, Pod
from tests.harness.clocks import LoopClock
from tests.harness.fake_cluster import FakeCluster
from tests.harness.scripted_watch import event, mark, refusal, run, told
from tests.harness.watching import CountedWatch

if TYPE_CHECKING:
    from bailiff.cluster import Cluster

pytestmark = pytest.mark.looptime

LABELS = {"app": "web"}
LISTS = ClusterSettings(watch_initial_events=False)


def listing() -> Listing[Pod]:
    return Listing((Pod(metadata=ObjectMeta(name="a", labels=LABELS)),), "8")


async def first_pod(fake: FakeCluster, **options: Any) -> Pod:
    watch = ListWatch(cast("Cluster", fake), PODS, LoopClock(), **options)
    async with aclosing(watch.events()) as events:
        whole = await anext(events)
    assert isinstance(whole, Replaced)
    return whole.items[0]


async def listed(**options: Any) -> Pod:
    fake = FakeCluster([], [listing()])
    fake.settings = LISTS
    return await first_pod(fake, **options)


async def streamed(**options: Any) -> Pod:
    return await first_pod(FakeCluster([[event("ADDED", 1, labels=LABELS), mark(5)]]), **options)


@pytest.mark.parametrize("read", [listed, streamed])
async def test_pods_come_slim_and_with_their_labels_only_where_asked_for(read: Any) -> None:
    assert (await read()).metadata.labels is LABELS_NOT_KEPT
    assert (await read(keep=Keep(pod_labels=True))).metadata.labels == LABELS


async def test_lists_and_versions_are_asked_of_what_is_watched_and_of_no_more() -> None:
    selection = Selection(namespace="n", label_selector="app=web")
    fake = FakeCluster([[], [1e6]], [listing()])
    fake.settings = LISTS
    watch = ListWatch(cast("Cluster", fake), PODS, LoopClock(), selection=selection)
    async with aclosing(watch.events()) as events:
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(10)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert fake.questions == ["list", "from 8", "from 8"]
    # The list, and the version before the watch goes on.
    assert fake.about == [(PODS, selection)] * 2


async def test_a_list_is_contact_though_the_watch_behind_it_is_refused() -> None:
    clock = LoopClock()
    fake = FakeCluster([refusal(503)], [listing()])
    fake.settings = LISTS
    watch = CountedWatch(cast("Cluster", fake), clock)
    await asyncio.sleep(100)
    async with aclosing(watch.events()) as events:
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.5)
        assert watch.health.last_contact == 100
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_watch_that_is_not_accepted_in_time_is_no_silent_one_and_waited_out() -> None:
    idle = k8s.RequestTimeoutError("idle")
    fake = FakeCluster([[mark(5), 300.0], idle, idle, idle])
    fake.opening = 60.0
    watch, _ = await run(fake, 1000)
    assert watch.restarts == {Restart.ENDED: 1, Restart.IDLE: 3}
    _, *waits = [wait - fake.opening for wait in fake.waits]
    assert all(
        least <= wait <= 2 * least for least, wait in zip((0.8, 1.6, 3.2), waits, strict=True)
    )


async def test_the_time_for_the_initial_events_counts_from_when_the_watch_was_opened() -> None:
    await asyncio.sleep(1000)
    fake = FakeCluster([[event("ADDED", 1), 200.0, mark(5), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=a"]
    assert not watch.restarts


async def test_who_is_told_of_a_restart_is_told_the_error() -> None:
    heard: list[tuple[Restart, ClusterError | None]] = []
    failure = refusal(503)
    fake = FakeCluster([[mark(5), 10.0], failure, [1e6]])
    watch = ListWatch(
        cast("Cluster", fake), PODS, LoopClock(), on_restart=lambda *told: heard.append(told)
    )
    async with aclosing(watch.events()) as events:
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(60)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert heard == [(Restart.ENDED, None), (Restart.REFUSED, failure)]


async def test_where_the_server_asks_for_no_wait_it_is_as_short_as_the_settings_say() -> None:
    fake = FakeCluster([[mark(5), 5.0], *[refusal(503)] * 3])
    fake.settings = ClusterSettings(backoff_min=0.1, backoff_max=0.1)
    await run(fake, 100)
    assert all(0.1 <= wait <= 0.2 for wait in fake.waits[1:])
    assert len(fake.waits) == 4


async def test_a_version_that_is_told_again_is_none_that_goes_backwards() -> None:
    fake = FakeCluster([[mark(5), event("BOOKMARK", 5), event("MODIFIED", 5), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=", "+a"]
    assert not watch.restarts


async def test_versions_that_are_no_numbers_are_believed() -> None:
    odd = cast("int", "x1")
    fake = FakeCluster([[mark(100), event("MODIFIED", odd), event("MODIFIED", 7, "b"), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=", "+a", "+b"]
    assert not watch.restarts
