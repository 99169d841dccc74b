"""An API server that takes 50 requests a second and answers the rest 429, with 2,000 pods due.

It does so for half a minute, then it takes everything. The worker holds a Lease, whose requests
are none of the 50: the API server serves them in a priority level of their own.
"""

from __future__ import annotations

import asyncio
import random
import time

from tests.acceptance.leases import lease_flags, spec_of
from tests.acceptance.stage import stage
from tests.chaos.fleet import Fleet
from tests.chaos.scenarios import beside
from tests.chaos.workers import WorkerProcess
from tests.harness.kube.faulty_proxy import FaultyProxy
from tests.harness.kube.storms import TooManyStorm
from tests.harness.working import until

PODS, NODE_COUNT, PER_SECOND, SECONDS = 2000, 100, 50, 30.0
MOST_RATIO = 2.0
# Seconds that the worker has to find out what the API server takes.
_SETTLING = 5
_PATIENCE = 180.0
_LEASE = "overload"


async def run() -> bool:
    """Everything; whether all was well."""
    rng = random.Random(0)
    async with (
        stage() as found,
        FaultyProxy(found.server.port, found.server.tls.ca, rng, 0.0) as proxy,
    ):
        fleet = await found.fleet("overload", NODE_COUNT, PODS)
        worker = WorkerProcess(
            "worker",
            proxy.kubeconfig(found.server.kubeconfig),
            found.server.folder,
            *await lease_flags(found.cluster, _LEASE),
        )
        async with beside(worker.run()):
            await until(worker.pages.leads)
            storm = await _overloaded(proxy, fleet)
            left, ended = found.left(fleet), time.monotonic()
            await found.all_gone([fleet], _PATIENCE)
            took = time.monotonic() - ended
        spec = await spec_of(found.cluster, _LEASE)
        kept = (spec.get("leaseTransitions") or 0) == 0 and worker.restarts == 0
        print(f"the lead was {'kept' if kept else 'lost'}")
        print(
            f"evicted: {PODS - left:,} in the storm, {left - found.left(fleet):,} in {took:.1f} s"
            f" after it, {found.left(fleet):,} not"
        )
    return _told(storm) and kept and found.left(fleet) == 0


async def _overloaded(proxy: FaultyProxy, fleet: Fleet) -> TooManyStorm:
    storm = proxy.storm = TooManyStorm(PER_SECOND)
    await fleet.taint_undated(fleet.nodes)
    await asyncio.sleep(SECONDS)
    proxy.storm = None
    return storm


def _told(storm: TooManyStorm) -> bool:
    ratio = sum(storm.asked) / max(sum(storm.passed), 1)
    settled = sum(storm.asked[_SETTLING:]) / max(sum(storm.passed[_SETTLING:]), 1)
    print(f"requests, by second: {storm.asked}\nlet through: {storm.passed}")
    print(f"requests for one let through: {ratio:.2f}, {settled:.2f} after {_SETTLING} s")
    return settled < MOST_RATIO
