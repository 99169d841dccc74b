"""A worker on dry run: the API server is asked everything, and nothing happens."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.worker import ClusterActions, Worker, WorkerSettings, watches
from tests.contract.api import NODES, taint, version_of
from tests.contract.working import KEY, messages, until


async def test_everything_is_asked_and_nothing_is_kept(bench, cluster):
    node = await bench.node()
    pod = await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    before = await cluster.get(NODES, node)
    clock, registry, stop = SystemClock(), CollectorRegistry(), asyncio.Event()
    actions = ClusterActions(cluster, instance="test", dry_run=True)
    worker = Worker(actions, clock, registry, WorkerSettings())
    task = asyncio.create_task(worker.run(*watches(cluster, clock, worker.metrics), stop))

    def evicted():
        labels = {"outcome": "deleted"}
        return registry.get_sample_value("bailiff_worker_eviction_attempts_total", labels)

    await until(evicted)
    stop.set()
    await task
    assert version_of(await bench.get("plain")) == version_of(pod)
    assert version_of(await cluster.get(NODES, node)) == version_of(before)
    assert await messages(bench, pod) == []
    assert evicted() == 1
