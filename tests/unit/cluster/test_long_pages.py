"""Pages of a list that are longer than an answer may be: read all the same, in smaller ones.

Eight pods of one tenant are enough for one: Go writes `<` as \\u003c, so that 1.5 MB of it in etcd
are 9 MB of JSON.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.clock import SystemClock
from bailiff.cluster import PODS, ClusterSettings, ListWatch, Replaced
from bailiff.decisions import Wanted
from bailiff.kinds import Pod
from bailiff.lookup import ClusterSource, FailedError
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

BOUND = 10_000
SETTINGS = ClusterSettings(page_size=64, max_response_bytes=BOUND, watch_initial_events=False)
# Seven are a page, eight are too many.
FAT = 1_300


class Pods:
    """A server with a list of pods, each as long as it is told; a continue token is a position.

    Attributes:
        names: of the pods, in their order.
        asked: the limits and continue tokens of the pages that were asked for.
    """

    def __init__(self, *sizes: int) -> None:
        self.names = [f"pod-{number:03}" for number in range(len(sizes))]
        self._pods = [_pod(name, size) for name, size in zip(self.names, sizes, strict=True)]
        self.asked: list[tuple[int, str]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return web.Response(status=403, text="no")
        limit, token = int(request.query["limit"]), request.query.get("continue", "")
        self.asked.append((limit, token))
        begin = int(token or 0)
        end = min(begin + limit, len(self._pods))
        more = {"continue": str(end)} if end < len(self._pods) else {}
        meta = {"resourceVersion": "7"} | more
        return web.json_response({"metadata": meta, "items": self._pods[begin:end]})

    @asynccontextmanager
    async def serving(self, folder: Path) -> AsyncIterator[k8s.Cluster]:
        async with serving(self.answer) as port:
            path = kubeconfig(folder, port)
            async with await k8s.connect(path, settings=SETTINGS) as cluster:
                yield cluster


def _pod(name: str, size: int) -> object:
    meta = {"name": name, "namespace": "n", "uid": name, "resourceVersion": "5"}
    return {"metadata": meta, "spec": {"containers": [{"args": ["x" * size]}]}}


def names(found: k8s.Listing[Pod] | Replaced[Pod]) -> list[str]:
    return [pod.metadata.name for pod in found.items]


async def test_a_page_that_is_too_long_is_asked_for_again_with_fewer_objects(
    tmp_path: Path,
) -> None:
    pods = Pods(*[FAT] * 8)
    async with pods.serving(tmp_path) as cluster:
        found = await cluster.list(PODS)
    assert names(found) == pods.names
    assert found.resource_version == "7"
    assert pods.asked == [(64, ""), (16, ""), (4, ""), (4, "4")]


async def test_a_later_page_is_asked_for_again_from_where_it_began(tmp_path: Path) -> None:
    pods = Pods(*[10] * 64, *[FAT] * 8)
    async with pods.serving(tmp_path) as cluster:
        assert names(await cluster.list(PODS)) == pods.names
    assert pods.asked == [(64, ""), (64, "64"), (16, "64"), (4, "64"), (4, "68")]


async def test_behind_the_long_ones_pages_grow_again(tmp_path: Path) -> None:
    """150,000 objects in pages of four would not be read before the server has forgotten them."""
    pods = Pods(*[FAT] * 8, *[1] * 60)
    async with pods.serving(tmp_path) as cluster:
        assert names(await cluster.list(PODS)) == pods.names
    begun = [(64, ""), (16, ""), (4, ""), (4, "4")]
    assert pods.asked == [*begun, (4, "8"), (8, "12"), (16, "20"), (32, "36")]


async def test_pages_that_fill_half_the_bound_do_not_grow(tmp_path: Path) -> None:
    """They would be too long again, and again."""
    pods = Pods(*[FAT] * 40)
    async with pods.serving(tmp_path) as cluster:
        assert names(await cluster.list(PODS)) == pods.names
    assert [limit for limit, _ in pods.asked] == [64, 16] + [4] * 10


async def test_the_next_list_begins_with_large_pages(tmp_path: Path) -> None:
    pods = Pods(*[FAT] * 8)
    async with pods.serving(tmp_path) as cluster:
        await cluster.list(PODS)
        pods.asked.clear()
        await cluster.list(PODS)
    assert pods.asked[0] == (64, "")


async def test_objects_that_come_one_by_one_are_read(tmp_path: Path) -> None:
    pods = Pods(*[BOUND - 300] * 3)
    async with pods.serving(tmp_path) as cluster:
        assert names(await cluster.list(PODS)) == pods.names
    assert [limit for limit, _ in pods.asked] == [64, 16, 4, 1, 1, 1]


async def test_one_object_that_is_too_long_is_a_failure(tmp_path: Path) -> None:
    pods = Pods(10, BOUND)
    async with pods.serving(tmp_path) as cluster:
        with pytest.raises(k8s.ResponseError, match=r"GET /api/v1/pods: .* exceeds 10000 bytes"):
            await cluster.list(PODS)
    assert pods.asked == [(64, ""), (16, ""), (4, ""), (1, ""), (2, "1"), (1, "1")]


async def test_a_watch_that_begins_with_a_list_begins(tmp_path: Path) -> None:
    pods = Pods(*[FAT] * 8)
    async with (
        asyncio.timeout(10),
        pods.serving(tmp_path) as cluster,
        aclosing(ListWatch(cluster, PODS, SystemClock()).events()) as events,
    ):
        begun = await anext(events)
    assert isinstance(begun, Replaced)
    assert names(begun) == pods.names


async def test_a_look_up_reads_them(tmp_path: Path) -> None:
    pods = Pods(*[FAT] * 8)
    async with pods.serving(tmp_path) as cluster:
        found = await ClusterSource(cluster, SystemClock()).see(Wanted(Pod))
    assert [pod.metadata.name for pod in found if isinstance(pod, Pod)] == pods.names


async def test_a_look_up_names_the_bound_that_one_object_exceeds(tmp_path: Path) -> None:
    async with Pods(BOUND).serving(tmp_path) as cluster:
        with pytest.raises(FailedError, match="exceeds 10000 bytes"):
            await ClusterSource(cluster, SystemClock()).see(Wanted(Pod))


@pytest.mark.parametrize(("most", "pages"), [(64, 1), (65, 2), (1000, 3)])
async def test_no_page_is_read_beyond_what_is_wanted(tmp_path: Path, most: int, pages: int) -> None:
    pods = Pods(*[1] * 150)
    async with pods.serving(tmp_path) as cluster:
        source = ClusterSource(cluster, SystemClock())
        found = await source.see(Wanted(Pod, most=most))
    assert [pod.metadata.name for pod in found if isinstance(pod, Pod)] == pods.names[:most]
    assert len(pods.asked) == pages
