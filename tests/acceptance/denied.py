"""Deletes denied by a webhook for 20 s, with another code in each namespace: all pods go after.

In the last namespace the denial looks like the API server's own answer about a pod that does not
exist.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial

from tests.acceptance.stage import Stage, stage
from tests.chaos.fleet import Fleet
from tests.chaos.scenarios import beside
from tests.chaos.workers import WorkerProcess
from tests.harness.api import PODS
from tests.harness.kube.webhook import Denial, Review, Webhook, as_if_gone, in_force, with_code
from tests.harness.working import until

PODS_A_CODE, NODE_COUNT, SECONDS = 200, 4, 20.0
_PATIENCE = 120.0
_CODES = {f"denied-{code}": code for code in (400, 403, 404, 409, 422, 500)}
_AS_IF_GONE = "denied-as-if-gone"


async def run() -> bool:
    """Everything; whether all was well."""
    async with stage() as found:
        fleets = [
            await found.fleet(name, NODE_COUNT, PODS_A_CODE) for name in (*_CODES, _AS_IF_GONE)
        ]
        webhook = Webhook(found.server.tls, _judge)
        worker = WorkerProcess("worker", found.server.kubeconfig, found.server.folder)
        async with (
            webhook.registered(found.cluster, "denied", "DELETE", "pods"),
            beside(worker.run()),
        ):
            for fleet in fleets:
                await in_force(partial(_probe, fleet))
            await until(worker.pages.ready)
            await _taint_all(fleets)
            await asyncio.sleep(SECONDS)
            allowed = time.time()
            webhook.judge = lambda review: None
            await found.all_gone(fleets, _PATIENCE)
        good = [_told(found, webhook, fleet, allowed) for fleet in fleets]
    return all(good)


def _judge(review: Review) -> Denial | None:
    namespace = review["namespace"]
    if namespace == _AS_IF_GONE:
        return as_if_gone(review)
    return with_code(_CODES[namespace]) if namespace in _CODES else None


async def _probe(fleet: Fleet) -> None:
    some = next(iter(fleet.pods.values())).name
    await fleet.cluster.delete(PODS, some, fleet.namespace, dry_run=True)


async def _taint_all(fleets: list[Fleet]) -> None:
    for fleet in fleets:
        await fleet.taint_undated(fleet.nodes)


def _told(found: Stage, webhook: Webhook, fleet: Fleet, allowed: float) -> bool:
    accepted = found.deletions().accepted
    times = sorted(min(accepted[uid]) - allowed for uid in fleet.pods if uid in accepted)
    denials = webhook.denied_in[fleet.namespace]
    print(
        f"{fleet.namespace}: {denials:,} denials; {len(times):,} of {len(fleet.pods):,} evicted,"
        + (f" {times[0]:.1f} to {times[-1]:.1f} s after deletes were allowed" if times else ""),
        flush=True,
    )
    return len(times) == len(fleet.pods) and times[0] >= 0 and denials >= len(fleet.pods)
