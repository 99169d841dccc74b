"""SIGSTOP of the leader in the middle of timed evictions, and SIGCONT: nothing is done twice."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sys
import time

import aiohttp
import pytest

from bailiff.cluster import PatchType
from tests.contract.test_worker_killed import (
    KEY,
    LONGEST,
    PODS_COUNT,
    Witness,
    make_pods,
)
from tests.harness.api import NODES
from tests.harness.kube.programs import free_port

TIMES = ("--lease-duration", "3", "--renew-deadline", "2", "--retry-period", "0.5")


class WorkerProcess:
    """`bailiff worker --leader-elect`, and what it says of itself."""

    def __init__(self, api, namespace, identity) -> None:
        self.port = free_port()
        self._command = (
            *(sys.executable, "-m", "bailiff", "worker", "--kubeconfig", str(api.kubeconfig)),
            *("--status-port", str(self.port), "--leader-elect", "--identity", identity),
            *("--lease-namespace", namespace, *TIMES),
        )

    async def start(self) -> WorkerProcess:
        self.process = await asyncio.create_subprocess_exec(*self._command)
        return self

    async def tells(self, path) -> str:
        url = f"http://127.0.0.1:{self.port}{path}"
        with contextlib.suppress(aiohttp.ClientError):
            async with aiohttp.ClientSession() as session, session.get(url) as response:
                return await response.text()
        return ""

    async def leads(self) -> bool:
        return '"leader":true' in await self.tells("/v1/queue")

    async def stands_by(self) -> bool:
        role = await self.tells("/v1/queue")
        return '"leader":false' in role and '"synced":true' in role

    async def deletions(self) -> int:
        name = "taint_eviction_controller_pod_deletions_total"
        found = re.search(rf"^{name} (\S+)$", await self.tells("/metrics"), re.MULTILINE)
        return int(float(found[1])) if found else 0

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


async def comes_true(holds, within=60) -> None:
    async with asyncio.timeout(within):
        while not await holds():
            await asyncio.sleep(0.1)


@pytest.mark.process
async def test_stopped_and_continued(api, cluster, bench):
    node = await bench.node()
    due = await make_pods(bench, node)
    witness = Witness(cluster)
    watching = asyncio.create_task(witness.run())
    first = await WorkerProcess(api, bench.namespace, "first").start()
    second = WorkerProcess(api, bench.namespace, "second")
    try:
        await comes_true(first.leads)
        await second.start()
        await comes_true(second.stands_by)
        tainted = time.monotonic()
        body = {"spec": {"taints": [{"key": KEY, "effect": "NoExecute"}]}}
        await cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)
        await asyncio.sleep(LONGEST * 0.4)
        first.process.send_signal(signal.SIGSTOP)
        await comes_true(second.leads)
        # It goes on while the other is at work, with timers that ran out meanwhile.
        first.process.send_signal(signal.SIGCONT)
        await comes_true(first.stands_by)

        async def all_left():
            return due.keys() <= witness.left.keys()

        await comes_true(all_left, within=90)
        counts = [await first.deletions(), await second.deletions()]
        assert await second.leads()
    finally:
        await first.end()
        await second.end()
        watching.cancel()
    early = [uid for uid, seconds in due.items() if witness.left[uid] - tainted < seconds]
    print(f"{api.name}: {counts} deletions by the two, {len(due)} pods, {len(early)} early")
    assert early == []
    assert min(counts) > 0
    # Each accepted delete is counted by whoever sent it: were one pod deleted by both, it shows.
    assert sum(counts) == PODS_COUNT
