"""Watching, raw: order, resumption, bookmarks, selectors, initial events, and forgetting."""

from __future__ import annotations

import asyncio
import json

import pytest

from bailiff import cluster as k8s
from bailiff.cluster.watch_events import decode_event
from bailiff.kinds import Pod
from tests.harness.api import PODS, Api, Bench, version_of
from tests.harness.objects import Object
from tests.harness.watching import INITIAL_EVENTS_END, Watch, told, watching

pytestmark = pytest.mark.parity


async def version(bench: Bench) -> str:
    return (await bench.cluster.list(PODS, namespace=bench.namespace)).resource_version


async def until_deleted(watch: Watch) -> Object:
    """The deletion that comes next; a server may show it as a change first."""
    while True:
        event = await watch.next()
        assert event is not None
        if event["type"] == "DELETED":
            return event
        assert event["object"]["metadata"]["deletionTimestamp"]


async def test_events_come_in_order_with_rising_versions(bench: Bench) -> None:
    async with watching(
        bench.cluster, bench.namespace, resourceVersion=await version(bench)
    ) as watch:
        pod = await bench.pod("a")
        await bench.set_status(pod, phase="Running")
        await bench.pod("b")
        await bench.remove("a")
        events = [*await watch.take(3), await until_deleted(watch)]
    assert [told(event) for event in events] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("ADDED", "b"),
        ("DELETED", "a"),
    ]
    versions = [int(version_of(event["object"])) for event in events]
    assert versions == sorted(set(versions))


async def test_a_graceful_deletion_is_a_change_first(bench: Bench) -> None:
    await bench.pod("a", node=await bench.node())
    async with watching(
        bench.cluster, bench.namespace, resourceVersion=await version(bench)
    ) as watch:
        await bench.cluster.delete(PODS, "a", bench.namespace)
        (first,) = await watch.take(1)
        await bench.remove("a")
        assert told(await until_deleted(watch)) == ("DELETED", "a")
    assert told(first) == ("MODIFIED", "a")
    assert first["object"]["metadata"]["deletionTimestamp"]


async def test_a_watch_resumes_after_the_version_it_names(bench: Bench) -> None:
    first = await bench.pod("a")
    await bench.pod("b")
    await bench.remove("a")
    async with watching(bench.cluster, bench.namespace, resourceVersion=version_of(first)) as watch:
        events = [*await watch.take(1), await until_deleted(watch)]
    assert [told(event) for event in events] == [("ADDED", "b"), ("DELETED", "a")]


async def test_a_watch_of_version_zero_begins_with_what_is_there(bench: Bench) -> None:
    await bench.pod("a")
    async with watching(bench.cluster, bench.namespace, resourceVersion="0") as watch:
        events = await watch.take(1)
        await bench.pod("b")
        events += await watch.take(1)
    assert [told(event) for event in events] == [("ADDED", "a"), ("ADDED", "b")]


async def test_an_object_that_leaves_the_selection_is_deleted_for_the_watcher(bench: Bench) -> None:
    pod = await bench.pod("a")
    async with watching(
        bench.cluster,
        bench.namespace,
        resourceVersion=await version(bench),
        fieldSelector="status.phase!=Succeeded",
    ) as watch:
        await bench.set_status(pod, phase="Running")
        await bench.set_status(pod, phase="Succeeded")
        await bench.set_status(pod, message="nobody sees this")
        await bench.pod("b")
        events = await watch.take(3)
    assert [told(event) for event in events] == [
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("ADDED", "b"),
    ]


async def test_an_object_that_enters_the_selection_is_added_for_the_watcher(bench: Bench) -> None:
    pod = await bench.pod("a")
    async with watching(
        bench.cluster,
        bench.namespace,
        resourceVersion=await version(bench),
        fieldSelector="status.phase=Running",
    ) as watch:
        await bench.set_status(pod, phase="Running")
        events = await watch.take(1)
    assert [told(event) for event in events] == [("ADDED", "a")]


async def test_the_server_ends_a_watch_after_its_timeout(bench: Bench) -> None:
    async with watching(
        bench.cluster, bench.namespace, resourceVersion=await version(bench), timeoutSeconds="1"
    ) as watch:
        assert await watch.rest() == []


async def test_a_watch_without_events_is_told_how_far_it_has_come(bench: Bench) -> None:
    start = await version(bench)
    other = await Bench.set_up(bench.cluster)
    async with watching(
        bench.cluster,
        bench.namespace,
        resourceVersion=start,
        allowWatchBookmarks="true",
        timeoutSeconds="5",
    ) as watch:
        newer = version_of(await other.pod())
        events = await watch.rest()
    assert {event["type"] for event in events} == {"BOOKMARK"}
    assert all(event["object"]["kind"] == "Pod" for event in events)
    assert int(version_of(events[-1]["object"])) >= int(newer)


async def test_nobody_is_sent_bookmarks_unasked(bench: Bench) -> None:
    other = await Bench.set_up(bench.cluster)
    async with watching(
        bench.cluster, bench.namespace, resourceVersion=await version(bench), timeoutSeconds="3"
    ) as watch:
        await other.pod()
        assert await watch.rest() == []


async def test_initial_events_come_first_and_their_end_is_marked(bench: Bench) -> None:
    await bench.pod("a")
    await bench.pod("b")
    async with watching(
        bench.cluster,
        bench.namespace,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    ) as watch:
        *initial, mark = await watch.take(3)
        await bench.pod("c")
        live = await watch.take(1)
    assert {told(event) for event in initial} == {("ADDED", "a"), ("ADDED", "b")}
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"][INITIAL_EVENTS_END] == "true"
    assert int(version_of(mark["object"])) < int(version_of(live[0]["object"]))
    assert told(live[0]) == ("ADDED", "c")


async def test_initial_events_of_nothing_are_only_the_mark(bench: Bench) -> None:
    async with watching(
        bench.cluster,
        bench.namespace,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    ) as watch:
        (mark,) = await watch.take(1)
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"][INITIAL_EVENTS_END] == "true"


@pytest.mark.parametrize(
    "query",
    [
        {"sendInitialEvents": "true"},
        {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "NotOlderThan"},
    ],
)
async def test_contradicting_wishes_are_invalid(bench: Bench, query: dict[str, str]) -> None:
    with pytest.raises(k8s.InvalidError):
        async with watching(bench.cluster, bench.namespace, **query):
            pass


async def first_event(bench: Bench, version: str) -> None:
    """Refused with the answer or with the first event: a server may do either."""
    async with watching(bench.cluster, bench.namespace, resourceVersion=version) as watch:
        event = await watch.next()
    decode_event(json.dumps(event).encode(), Pod, lambda pod: pod)


async def test_a_forgotten_version_is_gone(api: Api, bench: Bench) -> None:
    old = await bench.pod("a")
    await bench.pod("b")
    await api.forget_history()
    with pytest.raises(k8s.ExpiredError) as caught:
        await first_event(bench, version_of(old))
    assert (caught.value.status, caught.value.reason) == (410, "Expired")


async def test_many_watches_see_the_same(bench: Bench) -> None:
    start = await version(bench)

    async def see() -> list[tuple[str, str]]:
        async with watching(bench.cluster, bench.namespace, resourceVersion=start) as watch:
            return [told(event) for event in await watch.take(3)]

    watchers = [asyncio.create_task(see()) for _ in range(5)]
    for name in ("a", "b", "c"):
        await bench.pod(name)
    assert await asyncio.gather(*watchers) == [[("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]] * 5
