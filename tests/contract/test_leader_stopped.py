"""SIGSTOP of the leader in the middle of timed evictions, and SIGCONT: nothing is done twice."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sys

import pytest

from tests.harness.kube.programs import free_port
from tests.harness.leases import make_leases
from tests.harness.status import StatusPages
from tests.harness.timed_pods import PODS_COUNT, witnessed_pods
from tests.harness.working import until

TIMES = ("--lease-duration", "3", "--renew-deadline", "2", "--retry-period", "0.5")


class WorkerProcess(StatusPages):
    """`bailiff worker --leader-elect`, and what it says of itself."""

    def __init__(self, api, namespace, identity) -> None:
        super().__init__(free_port())
        self._command = (
            *(sys.executable, "-m", "bailiff", "worker", "--kubeconfig", str(api.kubeconfig)),
            *("--status-port", str(self.port), "--leader-elect", "--identity", identity),
            *("--lease-namespace", namespace, *TIMES),
        )

    async def start(self) -> WorkerProcess:
        self.process = await asyncio.create_subprocess_exec(*self._command)
        return self

    async def leads(self) -> bool:
        return (await self.queue()).get("leader") is True

    async def stands_by(self) -> bool:
        queue = await self.queue()
        return queue.get("leader") is False and queue["synced"]

    async def deletions(self) -> int:
        name = "taint_eviction_controller_pod_deletions_total"
        _, metrics = await self.tells("/metrics")
        found = re.search(rf"^{name} (\S+)$", metrics, re.MULTILINE)
        return int(float(found[1])) if found else 0

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


@pytest.mark.process
async def test_stopped_and_continued(api, cluster, bench):
    await make_leases(cluster, bench.namespace)
    async with witnessed_pods(cluster, bench) as (pods, _):
        first = await WorkerProcess(api, bench.namespace, "first").start()
        second = WorkerProcess(api, bench.namespace, "second")
        try:
            await until(first.leads)
            await second.start()
            await until(second.stands_by)
            await pods.doom()
            first.process.send_signal(signal.SIGSTOP)
            await until(second.leads)
            # It goes on while the other is at work, with timers that ran out meanwhile.
            first.process.send_signal(signal.SIGCONT)
            await until(first.stands_by)
            await pods.all_gone()
            counts = [await first.deletions(), await second.deletions()]
            assert await second.leads()
        finally:
            await first.end()
            await second.end()
    early = pods.early()
    print(f"{api.name}: {counts} deletions by the two, {PODS_COUNT} pods, {len(early)} early")
    assert early == []
    assert min(counts) > 0
    # Each accepted delete is counted by whoever sent it: were one pod deleted by both, it shows.
    assert sum(counts) == PODS_COUNT
