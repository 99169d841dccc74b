"""kill -9 of the worker in the middle of 200 timed evictions: nothing lost, early, or mistaken."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, Changed, Deleted, ListWatch, PatchType, Replaced
from tests.harness.api import NODES, uid_of

KEY = "example.com/maintenance"
PODS_COUNT = 200
LONGEST = 10


def tolerating(seconds):
    return [{"key": KEY, "operator": "Exists", "effect": "NoExecute"} | seconds]


class Witness:
    """An independent watch: when each pod, by UID, was first seen on its way out."""

    def __init__(self, cluster) -> None:
        self.left: dict[str, float] = {}
        self._watch = ListWatch(cluster, PODS, SystemClock())

    async def run(self) -> None:
        async with contextlib.aclosing(self._watch.events()) as events:
            async for event in events:
                match event:
                    case Replaced(items=items):
                        pods = items
                    case Changed(object=pod) | Deleted(object=pod):
                        pods = (pod,)
                for pod in pods:
                    if pod.is_terminating or isinstance(event, Deleted):
                        self.left.setdefault(pod.metadata.uid, time.monotonic())


async def start_worker(api) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bailiff", "worker", "--kubeconfig", str(api.kubeconfig)),
        *("--status-port", "0"),
    )


async def make_pods(bench, node):
    """Each pod's UID with its seconds, 1 to LONGEST."""
    gate = asyncio.Semaphore(20)

    async def make(number):
        async with gate:
            seconds = 1 + number * LONGEST // PODS_COUNT
            tolerations = tolerating({"tolerationSeconds": seconds})
            pod = await bench.pod(f"pod-{number}", node=node, tolerations=tolerations)
            return uid_of(pod), seconds

    return dict(await asyncio.gather(*(make(number) for number in range(PODS_COUNT))))


@pytest.mark.process
async def test_killed_and_restarted(api, cluster, bench):
    node = await bench.node()
    due = await make_pods(bench, node)
    reborn = await bench.pod("db-0", node=node, tolerations=tolerating({"tolerationSeconds": 4}))
    witness = Witness(cluster)
    watching = asyncio.create_task(witness.run())
    worker = await start_worker(api)
    try:
        tainted = time.monotonic()
        body = {"spec": {"taints": [{"key": KEY, "effect": "NoExecute"}]}}
        await cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)
        await asyncio.sleep(LONGEST * 0.4)
        worker.send_signal(signal.SIGKILL)
        await worker.wait()
        before = sum(uid in witness.left for uid in due)
        await bench.remove("db-0")
        successor = await bench.pod("db-0", node=node, tolerations=tolerating({}))
        worker = await start_worker(api)
        async with asyncio.timeout(90):
            while not due.keys() <= witness.left.keys():
                await asyncio.sleep(0.1)
        worker.send_signal(signal.SIGTERM)
        assert await worker.wait() == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        watching.cancel()
    early = [uid for uid, seconds in due.items() if witness.left[uid] - tainted < seconds]
    print(f"{api.name}: {before} evicted before the kill, {len(due)} in all, {len(early)} early")
    assert 0 < before < PODS_COUNT
    assert early == []
    assert uid_of(await bench.get("db-0")) == uid_of(successor) != uid_of(reborn)
    assert uid_of(successor) not in witness.left
