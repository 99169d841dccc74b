"""A worker that has lost its lead writes nothing a second later, however slow its requests are.

2,000 pods are due, 200 at a time, and every answer takes 1.5 s, so that requests wait for a
connection. Then nothing about Leases gets through any more: the worker's last renewal holds for
the renew deadline after it was sent. The proxy sees what it writes after that.
"""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

from aiohttp import web

from tests.acceptance.leases import lease_flags
from tests.acceptance.stage import stage
from tests.chaos.scenarios import beside
from tests.chaos.workers import WorkerProcess
from tests.harness.kube.faulty_proxy import Fault, FaultyProxy
from tests.harness.working import until

PODS, NODE_COUNT, CONCURRENCY = 2000, 20, 200
_RENEW_DEADLINE = 4.0
_TIMES = ("--lease-duration=6", f"--renew-deadline={_RENEW_DEADLINE}", "--retry-period=1")
_SLOW, _AT_WORK, _AFTERWARDS = 1.5, 8.0, 15.0


class SlowProxy(FaultyProxy):
    """Takes its time with pods, nodes and Events.

    Attributes:
        cut_off: nothing about Leases gets through.
        renewed: when the last renewal came that was passed on.
        writes: when each write of something else came.
    """

    def __init__(self, target: int, ca: Path) -> None:
        super().__init__(target, ca, random.Random(0), rate=0.0)
        self.cut_off = False
        self.renewed = 0.0
        self.writes: list[float] = []

    async def _choose(self, request: web.BaseRequest) -> Fault | None:
        if "/leases" in request.path:
            if self.cut_off:
                return Fault.DROP
            if request.method != "GET":
                self.renewed = time.monotonic()
        elif request.method != "GET":
            self.writes.append(time.monotonic())
            await asyncio.sleep(_SLOW)
        return None


async def run() -> bool:
    """Everything; whether all was well."""
    async with (
        stage() as found,
        SlowProxy(found.server.port, found.server.tls.ca) as proxy,
    ):
        fleet = await found.fleet("fenced", NODE_COUNT, PODS)
        flags = await lease_flags(found.cluster, "fenced")
        worker = WorkerProcess(
            "worker",
            proxy.kubeconfig(found.server.kubeconfig),
            found.server.folder,
            *(*flags, *_TIMES, f"--concurrency={CONCURRENCY}"),
        )
        async with beside(worker.run()):
            await until(worker.pages.leads)
            await fleet.taint_undated(fleet.nodes)
            await asyncio.sleep(_AT_WORK)
            proxy.cut_off = True
            lost = proxy.renewed + _RENEW_DEADLINE
            await asyncio.sleep(lost + _AFTERWARDS - time.monotonic())
            left = found.left(fleet)
        late = sorted(at - lost for at in proxy.writes if at > lost)
    print(f"{len(proxy.writes):,} writes, {PODS - left:,} of {PODS:,} pods evicted by then")
    print(f"after the lead was lost: {len(late)} writes" + (f", {late[-1]:.2f} s" if late else ""))
    return left > 0 and left < PODS and all(after <= 1.0 for after in late)
