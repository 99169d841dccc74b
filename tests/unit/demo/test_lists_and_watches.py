from __future__ import annotations

import asyncio

import pytest

from bailiff_demo import DemoCluster, DemoSettings
from tests.unit.demo.api import PODS, Client, Json, pod, put

ALL = "/api/v1/pods"
INITIAL = {
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}


async def fill(api: Client, *names: str) -> None:
    for name in names:
        await api.post(PODS, pod(name))


def names(listed: Json) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


async def test_a_list(api: Client) -> None:
    await fill(api, "b", "a")
    listed = await api.get(ALL)
    assert (listed["kind"], listed["apiVersion"]) == ("PodList", "v1")
    assert names(listed) == ["a", "b"]
    assert listed["metadata"] == {"resourceVersion": str(api.cluster.store.version)}
    assert "kind" not in listed["items"][0]
    assert names(await api.get(ALL, fieldSelector="metadata.name=b")) == ["b"]
    assert names(await api.get("/api/v1/namespaces/kube-system/pods")) == []


async def test_pages_show_one_moment(api: Client) -> None:
    await fill(api, "a", "b", "c", "d")
    first = await api.get(ALL, limit="2")
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 2
    await fill(api, "bb", "e")
    await api.delete(f"{PODS}/c")
    second = await api.get(ALL, limit="2", **{"continue": first["metadata"]["continue"]})
    assert names(second) == ["c", "d"]
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}


async def test_a_page_whose_moment_is_forgotten_is_410(api: Client) -> None:
    await fill(api, "a", "b", "c")
    first = await api.get(ALL, limit="1")
    await fill(api, "d")
    api.cluster.store.forget()
    token = first["metadata"]["continue"]
    status = await api.refused("GET", ALL, limit="1", **{"continue": token})
    assert (status["code"], status["reason"]) == (410, "Expired")


async def test_a_token_is_good_for_its_own_list(api: Client) -> None:
    await fill(api, "a", "b")
    token = (await api.get(ALL, limit="1"))["metadata"]["continue"]
    for path in ("/api/v1/secrets", PODS):
        status = await api.refused("GET", path, limit="1", **{"continue": token})
        assert status["code"] == 400


async def test_lists_that_wait_are_bounded(api: Client) -> None:
    await fill(api, "a", "b")
    token = (await api.get(ALL, limit="1"))["metadata"]["continue"]
    for _ in range(100):
        await api.get(ALL, limit="1")
    assert (await api.refused("GET", ALL, **{"continue": token}))["code"] == 410


async def test_lists_of_version_zero_are_whole(api: Client) -> None:
    await fill(api, "a", "b")
    then = str(api.cluster.store.version)
    await fill(api, "c")
    not_older = {"resourceVersion": then, "resourceVersionMatch": "NotOlderThan"}
    assert names(await api.get(ALL, **not_older)) == ["a", "b", "c"]
    assert names(await api.get(ALL, resourceVersion="0", limit="1")) == ["a", "b", "c"]


async def test_a_version_still_to_come_is_504(api: Client) -> None:
    future = str(api.cluster.store.version + 5)
    status = await api.refused("GET", ALL, resourceVersion=future)
    assert (status["code"], status["reason"]) == (504, "Timeout")
    assert "Too large resource version" in status["message"]
    assert status["details"]["retryAfterSeconds"] == 1
    assert api.cluster.store._waiting == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"labelSelector": "=x"}, 400),
        ({"fieldSelector": "spec.color=red"}, 400),
        ({"limit": "many"}, 400),
        ({"continue": "@@@"}, 400),
        ({"resourceVersion": "new"}, 422),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersion": "1", "resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersion": "1", "resourceVersionMatch": "About"}, 422),
        ({"sendInitialEvents": "true"}, 422),
        ({"watch": "1", "sendInitialEvents": "true"}, 422),
        ({"watch": "1", "resourceVersionMatch": "NotOlderThan"}, 422),
    ],
)
async def test_queries_that_are_refused(api: Client, query: dict[str, str], code: int) -> None:
    assert (await api.refused("GET", ALL, **query))["code"] == code


async def test_a_watch_tells_every_change_once_and_in_order(api: Client) -> None:
    await fill(api, "old")
    version = str(api.cluster.store.version)
    async with api.watch(ALL, resourceVersion=version) as lines:
        await fill(api, "a")
        await api.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "1"}}})
        await api.delete(f"{PODS}/a")
        # A pod's deletion is a mark and then the end.
        told = [("ADDED", "a"), ("MODIFIED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
        assert await lines.take(4) == told


async def test_a_watch_without_version_begins_with_the_state(api: Client) -> None:
    await fill(api, "a", "b")
    for query in ({}, {"resourceVersion": "0"}):
        async with api.watch(ALL, **query) as lines:
            assert await lines.take(2) == [("ADDED", "a"), ("ADDED", "b")]


async def test_initial_events_end_with_a_bookmark(api: Client) -> None:
    await fill(api, "a")
    async with api.watch(ALL, **INITIAL) as lines:
        assert await lines.take(1) == [("ADDED", "a")]
        mark = await lines.next()
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["kind"] == "Pod"
        meta = mark["object"]["metadata"]
        assert meta["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert meta["resourceVersion"] == str(api.cluster.store.version)
        await fill(api, "b")
        assert await lines.take(1) == [("ADDED", "b")]


async def test_objects_enter_and_leave_a_selection(api: Client) -> None:
    await fill(api, "a")
    path = f"{PODS}/a"
    version = str(api.cluster.store.version)
    async with api.watch(ALL, resourceVersion=version, labelSelector="x=1") as lines:
        await api.patch(path, {"metadata": {"labels": {"x": "1"}}})
        await api.patch(path, {"metadata": {"labels": {"y": "1"}}})
        left = await api.patch(path, {"metadata": {"labels": {"x": "2"}}})
        await api.delete(path)
        assert await lines.take(2) == [("ADDED", "a"), ("MODIFIED", "a")]
        last = await lines.next()
        assert last["type"] == "DELETED"
        assert last["object"]["metadata"]["labels"] == {"x": "1", "y": "1"}
        assert last["object"]["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


async def test_a_node_sees_its_pods_only(api: Client) -> None:
    async with api.watch(ALL, fieldSelector="spec.nodeName=n") as lines:
        await fill(api, "elsewhere", "a")
        await api.post(f"{PODS}/a/binding", {"target": {"name": "n"}})
        assert await lines.take(1) == [("ADDED", "a")]


async def test_one_object_can_be_watched(api: Client) -> None:
    async with api.watch(f"{PODS}/b") as lines:
        await fill(api, "a", "b")
        assert await lines.take(1) == [("ADDED", "b")]


async def test_too_old_a_version_is_told_in_the_stream(api: Client) -> None:
    await fill(api, "a")
    api.cluster.store.forget()
    async with api.watch(ALL, resourceVersion="1") as lines:
        event = await lines.next()
        assert event["type"] == "ERROR"
        status = event["object"]
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
        assert await lines.ended()


async def test_bookmarks_come_when_nothing_happens() -> None:
    settings = DemoSettings(bookmark_seconds=0.02)
    async with DemoCluster(lively=False, settings=settings) as cluster:
        import aiohttp

        async with aiohttp.ClientSession() as session:
            api = Client(cluster, session)
            version = str(cluster.store.version)
            query = {"resourceVersion": version, "allowWatchBookmarks": "true"}
            async with api.watch(ALL, **query) as lines:
                # Others' changes move the version on, too.
                put(cluster, "nodes", {"metadata": {"name": "n"}})
                marks = [await lines.next() for _ in range(3)]
    assert {mark["type"] for mark in marks} == {"BOOKMARK"}
    assert marks[-1]["object"]["metadata"]["resourceVersion"] == str(cluster.store.version)


async def test_a_watch_lasts_as_long_as_asked(api: Client) -> None:
    async with api.watch(ALL, timeoutSeconds="1") as lines:
        assert await lines.ended()


async def test_a_watcher_that_leaves_is_forgotten(api: Client) -> None:
    from bailiff_demo.resources import PODS as RESOURCE

    watches = api.cluster.store.bucket(RESOURCE).watches
    async with api.watch(ALL):
        assert len(watches) == 1
    async with asyncio.timeout(5):
        while watches:
            await asyncio.sleep(0.01)


async def test_stopping_ends_watches_in_good_order(api: Client) -> None:
    async with api.watch(ALL) as lines:
        async with asyncio.timeout(2):
            await api.cluster.__aexit__()
        assert await lines.ended()
