"""A worker whose requests go over real connections, and to whom a test tells what it watches."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.cluster import Replaced
from bailiff.worker import ClusterActions, Unopposed, Worker, WorkerSettings
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.worlds.fake_watch import FakeWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.cluster import Cluster


@contextlib.asynccontextmanager
async def wired_worker(
    cluster: Cluster, pods: int, concurrency: int, election: Any = None
) -> AsyncIterator[Worker]:
    """It takes the pods p0, p1, ... of a tainted node for due, all at once."""
    nodes, followed, stop = FakeWatch(), FakeWatch(), asyncio.Event()
    election = election or Unopposed()
    worker = Worker(
        ClusterActions(cluster.fenced(election.may_act), instance="test"),
        SystemClock(),
        CollectorRegistry(),
        WorkerSettings(concurrency=concurrency, shutdown_grace=10.0),
        election,
    )
    doomed = [pod_of(f"p{n}", "n1", uid=f"u{n}", resource_version="1") for n in range(pods)]
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run(followed, nodes, stop))
        nodes.send(Replaced((node_of("n1", no_execute()),), "1"))
        followed.send(Replaced(tuple(doomed), "1"))
        yield worker
        stop.set()


def pod_at(path: str, uid: str) -> dict[str, Any]:
    """What a server has of the pod of `/api/v1/namespaces/NAMESPACE/pods/NAME/status`."""
    metadata = {"name": path.split("/")[6], "namespace": "default", "uid": uid}
    return {"metadata": metadata | {"resourceVersion": "2"}, "spec": {"nodeName": "n1"}}
