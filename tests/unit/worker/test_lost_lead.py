"""A worker in the middle of its evictions loses its lead, over a network that stands still."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import ClusterSettings
from tests.harness.kube.relay import Relay
from tests.harness.kube.tls import make_tls
from tests.harness.scripted_server import kubeconfig, serving
from tests.harness.wired import pod_at, wired_worker
from tests.harness.working import attempts, until
from tests.harness.worlds.appointment import Appointment

if TYPE_CHECKING:
    from pathlib import Path

CONCURRENCY = 12
# Half of the evictions have a request under way, the others wait for their turn.
FEW = ClusterSettings(max_requests=CONCURRENCY // 2, max_watches=1)


async def test_it_writes_nothing_more(tmp_path: Path) -> None:
    """Some wait for an answer, some for a connection, some for their turn, Events for all that."""
    arrived: list[str] = []
    answering = asyncio.Event()
    answering.set()

    async def answer(request: web.Request) -> web.Response:
        arrived.append(request.method)
        body = json.loads(await request.read() or b"{}")
        await answering.wait()
        if request.path.endswith("/status"):
            return web.json_response(pod_at(request.path, body["metadata"]["uid"]))
        return web.json_response({})

    tls, election = make_tls(tmp_path), Appointment(leads=True)
    async with serving(answer, tls) as port, Relay(port) as relay:
        path = kubeconfig(tmp_path, relay.port, ca=tls.ca)
        async with (
            await k8s.connect(path, settings=FEW) as cluster,
            wired_worker(cluster, 300, CONCURRENCY, election) as worker,
        ):
            await until(lambda: arrived.count("DELETE") >= 10)
            answering.clear()
            before = len(arrived)
            await until(lambda: len(arrived) == before + FEW.max_requests)
            # What is broken off is tried again at once, over new connections that do not come.
            relay.freeze()
            await relay.cut()
            await until(lambda: relay.connections > FEW.max_requests)
            election.leads = False
            sent = len(arrived)
            answering.set()
            relay.thaw()
            await until(lambda: attempts(worker).get("fenced", 0) > 0)
        # Its end waits for all that was under way.
        assert attempts(worker)["fenced"] >= CONCURRENCY // 2
    assert len(arrived) == sent
