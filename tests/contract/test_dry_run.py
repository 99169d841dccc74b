"""A worker on dry run: the API server is asked everything, and nothing happens."""

from __future__ import annotations

import asyncio
import json
import sys

from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.worker import (
    ClusterActions,
    Source,
    Watches,
    WatchMetrics,
    Worker,
    WorkerSettings,
)
from tests.harness.api import NODES, version_of
from tests.harness.device_objects import RULES
from tests.harness.gpus import gpus_of
from tests.harness.kube.programs import free_port
from tests.harness.objects import KEY, taint
from tests.harness.working import deletions, messages, until


async def test_everything_is_asked_and_nothing_is_kept(bench, cluster):
    node = await bench.node()
    pod = await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    before = await cluster.get(NODES, node)
    clock, registry, stop = SystemClock(), CollectorRegistry(), asyncio.Event()
    actions = ClusterActions(cluster, instance="test", dry_run=True)
    worker = Worker(actions, clock, registry, WorkerSettings(on_paper=True))
    watches = Watches(cluster, clock, WatchMetrics(registry))
    task = asyncio.create_task(worker.run(watches.pods(), watches.nodes(), stop))

    def evicted():
        labels = {"outcome": "deleted"}
        return registry.get_sample_value("bailiff_worker_dry_run_attempts_total", labels)

    await until(evicted)
    stop.set()
    await task
    assert version_of(await bench.get("plain")) == version_of(pod)
    assert version_of(await cluster.get(NODES, node)) == version_of(before)
    assert await messages(bench, pod) == []
    assert evicted() == 1


async def test_a_rule_s_pods_are_asked_for_and_its_status_is_not_kept(bench, cluster):
    clock, registry, stop = SystemClock(), CollectorRegistry(), asyncio.Event()
    actions = ClusterActions(cluster, instance="test", dry_run=True)
    watches = Watches(cluster, clock, WatchMetrics(registry))
    source = Source(cluster, watches)
    worker = Worker(actions, clock, registry, WorkerSettings(), source=source)

    def written():
        labels = {"fate": "written"}
        return registry.get_sample_value("bailiff_worker_rule_status_writes_total", labels)

    async with gpus_of(bench) as gpus:
        pod = await gpus.pod("plain")
        rule = await gpus.rule()
        task = asyncio.create_task(worker.run(watches.pods(), watches.nodes(), stop))
        await until(lambda: deletions(worker)["device-taints"])
        await until(written)
        stop.set()
        await task
        assert version_of(await bench.get("plain")) == version_of(pod)
        assert version_of(await cluster.get(RULES, gpus.name)) == version_of(rule)
        assert await gpus.condition() == {}


async def test_each_line_of_the_log_says_that_nothing_is_done(bench, api):
    node = await bench.node()
    await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bailiff", "worker", "--dry-run"),
        *("--kubeconfig", str(api.worker_kubeconfig), "--status-port", str(free_port())),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    lines: list[dict[str, str]] = []
    try:
        while not lines or lines[-1]["event"] != "pod would be evicted, nothing is done":
            lines.append(json.loads(await process.stderr.readline()))
    finally:
        process.terminate()
        await process.wait()
    assert {line.get("mode") for line in lines} == {"dry run, nothing is done"}
