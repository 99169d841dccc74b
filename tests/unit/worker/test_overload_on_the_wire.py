"""A worker and an API server that is slow or busy, over real connections."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.bootstrap.cluster import bounds_for
from bailiff.cluster import Cluster, ClusterSettings, LeaseRecord, LeaseStore, Request
from tests.harness.scripted_server import kubeconfig, serving
from tests.harness.wired import pod_at, wired_worker
from tests.harness.working import attempts, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

RETRY_AFTER = 0.2


class Server:
    """Pods that can be patched and deleted.

    Attributes:
        allowed: requests to let through in each period of RETRY_AFTER; None: all.
        together: who patches a pod waits until so many do.
        sent: requests so far.
        let_through: those that were not answered 429.
        deleted: the pods, in order.
    """

    def __init__(self, allowed: int | None = None, together: int = 1) -> None:
        self.allowed = allowed
        self.together = asyncio.Barrier(together)
        self.sent = 0
        self.let_through = 0
        self.deleted: list[str] = []
        self._periods: dict[int, int] = {}

    async def __call__(self, request: web.Request) -> web.Response:
        self.sent += 1
        if not self._lets_through():
            refusal = {"reason": "TooManyRequests", "details": {"retryAfterSeconds": RETRY_AFTER}}
            return web.json_response(refusal, status=429)
        self.let_through += 1
        if request.path.endswith("/status"):
            await self.together.wait()
            uid = json.loads(await request.read())["metadata"]["uid"]
            return web.json_response(pod_at(request.path, uid))
        if request.method == "DELETE":
            self.deleted.append(request.path.rsplit("/", 1)[1])
        return web.json_response({})

    def _lets_through(self) -> bool:
        period = int(asyncio.get_running_loop().time() / RETRY_AFTER)
        count = self._periods[period] = self._periods.get(period, 0) + 1
        return self.allowed is None or count <= self.allowed


@contextlib.asynccontextmanager
async def client(answer: Any, folder: Path, settings: ClusterSettings) -> AsyncIterator[Cluster]:
    async with (
        serving(answer) as port,
        await k8s.connect(kubeconfig(folder, port), settings=settings) as cluster,
    ):
        yield cluster


async def test_in_a_storm_of_429_the_server_is_spared_and_afterwards_all_go(
    tmp_path: Path,
) -> None:
    server = Server(allowed=10)
    async with (
        client(server, tmp_path, bounds_for(20)) as cluster,
        wired_worker(cluster, 200, 20),
    ):
        await until(lambda: server.let_through >= 20)
        sent, through = server.sent, server.let_through
        await until(lambda: server.let_through >= 60)
        assert server.sent - sent < 2 * (server.let_through - through)
        server.allowed = None
        await until(lambda: len(server.deleted) >= 200)
    assert len(set(server.deleted)) == len(server.deleted) == 200


async def test_as_many_evictions_as_are_asked_for_are_under_way_at_once(tmp_path: Path) -> None:
    """The server answers none before it has all; who had no connection would keep it waiting."""
    server = Server(together=200)
    async with (
        client(server, tmp_path, bounds_for(200)) as cluster,
        wired_worker(cluster, 200, 200) as worker,
    ):
        await until(lambda: attempts(worker).get("deleted") == 200)
        assert attempts(worker) == {"deleted": 200}


async def test_a_lease_is_renewed_however_many_requests_wait_and_for_however_long(
    tmp_path: Path,
) -> None:
    """All connections are taken by requests without an answer, and nothing else may be sent."""
    hanging, record = asyncio.Semaphore(0), LeaseRecord(holder_identity="me")

    async def answer(request: web.Request) -> web.Response:
        if "/leases" in request.path:
            return web.json_response(await request.json() if request.can_read_body else {})
        if request.path == "/busy":
            return web.Response(status=429, headers={"Retry-After": "60"})
        hanging.release()
        await asyncio.Event().wait()
        raise AssertionError

    few = ClusterSettings(max_requests=3, max_watches=1)
    async with client(answer, tmp_path, few) as cluster, asyncio.TaskGroup() as group:
        tasks = [group.create_task(cluster.send(Request("DELETE", f"/{n}"))) for n in range(2)]
        for _ in tasks:
            await hanging.acquire()
        with pytest.raises(k8s.TooManyRequestsError):
            await cluster.send(Request("GET", "/busy"))
        assert cluster.backoff() > 50.0
        store = LeaseStore(cluster, "default", "l")
        assert await store.create()
        lease = await store.read()
        assert lease is not None
        assert (await store.write(lease, record)).record == record
        assert await store.read() is not None
        for task in tasks:
            task.cancel()
