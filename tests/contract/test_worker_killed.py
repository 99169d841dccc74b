"""kill -9 of the worker in the middle of 200 timed evictions: nothing lost, early, or mistaken."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys

import pytest

from tests.harness.api import uid_of
from tests.harness.kube.programs import free_port
from tests.harness.objects import tolerating
from tests.harness.status import StatusPages
from tests.harness.timed_pods import LONGEST, PODS_COUNT, witnessed_pods
from tests.harness.working import until


async def start_worker(api) -> asyncio.subprocess.Process:
    """A worker that has seen everything."""
    pages = StatusPages(free_port())
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bailiff", "worker", "--kubeconfig", str(api.worker_kubeconfig)),
        *("--status-port", str(pages.port)),
    )
    await until(pages.ready)
    return worker


@pytest.mark.process
async def test_killed_and_restarted(api, cluster, bench):
    async with witnessed_pods(cluster, bench) as (pods, witness):
        seconds = tolerating(LONGEST)
        reborn = await bench.pod("db-0", node=pods.node, tolerations=[seconds])
        worker = await start_worker(api)
        try:
            await pods.doom()
            worker.send_signal(signal.SIGKILL)
            await worker.wait()
            before = pods.gone
            await bench.remove("db-0")
            successor = await bench.pod("db-0", node=pods.node, tolerations=[tolerating()])
            worker = await start_worker(api)
            await pods.all_gone()
            worker.send_signal(signal.SIGTERM)
            assert await worker.wait() == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
    early = pods.early()
    print(f"{api.name}: {before} evicted before the kill, {PODS_COUNT} in all, {len(early)} early")
    assert 0 < before < PODS_COUNT
    assert early == []
    assert uid_of(await bench.get("db-0")) == uid_of(successor) != uid_of(reborn)
    assert uid_of(successor) not in witness.left
