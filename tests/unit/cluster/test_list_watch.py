"""ListWatch on virtual time, against a scripted cluster: what it asks, and how long it waits."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import cast

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import (
    Cluster,
    ClusterSettings,
    Deleted,
    Listing,
    ListWatch,
    Restart,
)
from bailiff.kinds import ObjectMeta, Pod
from tests.harness.clocks import LoopClock
from tests.harness.fake_cluster import Chunk, FakeCluster
from tests.harness.scripted_watch import event, mark, refusal, run, told

pytestmark = pytest.mark.looptime

EXPIRED = b'{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}}\n'


def listing(version: int, *names: str) -> Listing[Pod]:
    items = tuple(Pod(metadata=ObjectMeta(name=name, namespace="n")) for name in names)
    return Listing(items, str(version))


async def test_events_in_order_whatever_the_chunks() -> None:
    stream = (
        event("ADDED", 1) + mark(5) + event("MODIFIED", 6) + event("ADDED", 7, "b")
        + event("BOOKMARK", 9) + event("DELETED", 10)
    )  # fmt: skip
    fake = FakeCluster([[stream[at : at + 7] for at in range(0, len(stream), 7)] + [1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=a", "+a", "+b", "-a"]
    assert isinstance(events[-1], Deleted)
    assert watch.health.resource_version == "10"
    assert watch.restarts == {}


async def test_an_orderly_end_resumes_at_once_from_the_last_bookmark() -> None:
    fake = FakeCluster([[mark(5), 300.0, event("BOOKMARK", 8)], [event("ADDED", 9, "b"), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=", "+b"]
    assert fake.questions == ["all", "from 8"]
    assert fake.waits == [300]
    assert watch.restarts == {Restart.ENDED: 1}


async def test_a_watch_that_was_open_for_a_second_is_opened_again_at_once() -> None:
    fake = FakeCluster([[mark(5), 1.0], [1.0], [1e6]])
    watch, _ = await run(fake)
    assert fake.waits == [1, 1]
    assert watch.restarts == {Restart.ENDED: 2}


async def test_an_end_that_comes_too_soon_is_waited_out() -> None:
    fake = FakeCluster([[mark(5)], [], []])
    watch, _ = await run(fake)
    first, second, third = fake.waits
    assert 0.8 <= first <= 1.6 <= second <= 3.2 <= third <= 6.4
    assert watch.restarts == {Restart.ENDED: 3}


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (k8s.UnreachableError("gone"), Restart.DISCONNECTED),
        (refusal(503), Restart.REFUSED),
    ],
)
async def test_a_break_resumes_after_a_wait_without_reading_again(
    failure: Exception, cause: Restart
) -> None:
    fake = FakeCluster([[mark(5), 200.0, failure], [event("ADDED", 6, "b"), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=", "+b"]
    assert fake.questions == ["all", "from 5"]
    assert 200.8 <= fake.waits[0] <= 201.6
    assert watch.restarts == {cause: 1}


@pytest.mark.parametrize("how", [[EXPIRED], refusal(410)])
async def test_a_forgotten_version_is_read_again_at_once(how: Exception | list[Chunk]) -> None:
    fake = FakeCluster(
        [[event("ADDED", 1), mark(5), 60.0], how, [event("ADDED", 9, "b"), mark(9), 1e6]]
    )
    watch, events = await run(fake)
    assert told(events) == ["=a", "=b"]
    assert fake.questions == ["all", "from 5", "all"]
    assert fake.waits == [60, 0]
    assert watch.restarts == {Restart.ENDED: 1, Restart.EXPIRED: 1}
    assert watch.health.synced


async def test_a_server_that_always_forgets_is_not_asked_in_a_loop() -> None:
    fake = FakeCluster([[mark(5)], *([EXPIRED] for _ in range(40))])
    watch, _ = await run(fake, 600)
    assert watch.restarts[Restart.EXPIRED] < 25
    assert not watch.health.synced
    assert watch.health.resource_version == ""


@pytest.mark.parametrize(
    "junk", [b"{junk}\n", b'{"type":"ADDED","object":{"metadata":{}}}\n', b"x" * 3000]
)
async def test_what_cannot_be_read_is_read_again_from_the_start(junk: bytes) -> None:
    fake = FakeCluster([[mark(5), junk, 5.0], [event("ADDED", 9, "b"), mark(9), 1e6]])
    fake.settings = ClusterSettings(max_event_bytes=2000)
    watch, events = await run(fake)
    assert told(events) == ["=", "=b"]
    assert watch.restarts == {Restart.MALFORMED: 1}


async def test_versions_that_go_backwards_are_read_again() -> None:
    fake = FakeCluster([[mark(50), event("ADDED", 7), 1e6], [mark(8), 1e6]])
    watch, events = await run(fake)
    assert told(events) == ["=", "="]
    assert watch.restarts == {Restart.REWOUND: 1}


async def test_a_server_that_is_behind_us_is_noticed_before_the_watch_goes_on() -> None:
    fake = FakeCluster([[mark(2000), 300.0], [mark(1001), 1e6]], version="1001")
    watch, events = await run(fake)
    assert told(events) == ["=", "="]
    assert fake.questions == ["all", "all"]
    assert watch.restarts == {Restart.ENDED: 1, Restart.REWOUND: 1}


async def test_a_server_that_cannot_send_objects_first_is_listed() -> None:
    fake = FakeCluster([refusal(422), [event("ADDED", 9, "b"), 1e6]], [listing(8, "a")])
    watch, events = await run(fake)
    assert told(events) == ["=a", "+b"]
    assert fake.questions == ["all", "list", "from 8"]
    assert fake.waits == [0, 0]
    assert watch.restarts == {Restart.UNSUPPORTED: 1}


async def test_a_server_that_ignores_the_wish_is_listed_in_the_end() -> None:
    endless: list[Chunk] = []
    for version in range(1, 100):
        endless += [event("MODIFIED", version), 10.0]
    fake = FakeCluster([endless, [1e6]], [listing(100, "a")])
    watch, events = await run(fake)
    assert told(events) == ["=a"]
    assert fake.questions == ["all", "list", "from 100"]
    assert fake.waits[0] == pytest.approx(310, abs=1)
    assert watch.restarts == {Restart.UNSUPPORTED: 1}


async def test_a_watch_that_breaks_before_the_whole_is_there_begins_again() -> None:
    failure = k8s.UnreachableError("gone")
    fake = FakeCluster([[event("ADDED", 1), failure], [event("ADDED", 2, "b"), mark(3), 1e6]])
    _, events = await run(fake)
    assert told(events) == ["=b"]
    assert fake.questions == ["all", "all"]


async def test_a_failing_list_is_tried_again_with_growing_waits() -> None:
    failures: list[Exception | Listing[Pod]] = [refusal(503) for _ in range(12)]
    fake = FakeCluster([], [*failures, listing(8, "a")])
    fake.settings = ClusterSettings(watch_initial_events=False)
    watch, events = await run(fake)
    assert told(events) == ["=a"]
    assert fake.questions == ["list"] * 13 + ["from 8"]
    assert all(0.8 <= wait <= 60 for wait in fake.waits[:-1])
    assert all(wait >= 30 for wait in fake.waits[7:-1])
    assert watch.restarts == {Restart.REFUSED: 12}


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (3000.0, 60.0)])
async def test_the_server_may_ask_for_a_longer_wait_within_reason(
    asked: float, waited: float
) -> None:
    fake = FakeCluster([[mark(5), 5.0], refusal(429, asked)])
    await run(fake)
    assert fake.waits[1] == waited


async def test_health_says_when_the_server_was_last_heard() -> None:
    fake = FakeCluster([[mark(5), 40.0, event("ADDED", 6), 30.0, event("BOOKMARK", 7), 1e6]])
    watch = ListWatch(cast("Cluster", fake), k8s.PODS, LoopClock())
    began = asyncio.get_running_loop().time()
    async with aclosing(watch.events()) as events:
        await anext(events)
        assert watch.health.connected
        assert watch.health.synced
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(100)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert watch.health.last_contact == pytest.approx(began + 70)
    assert not watch.health.connected
