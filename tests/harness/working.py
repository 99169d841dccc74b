"""A worker at work on an API server, and how to see what it did."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from bailiff.bootstrap.node_loss import KEEP as NODE_LOSS_KEEP
from bailiff.bootstrap.pressure import halves_with
from bailiff.clock import SystemClock
from bailiff.cluster import KEEP_LITTLE, NODES, NotFoundError, PatchType, Resource
from bailiff.decisions import SYSTEMS
from bailiff.lookup import ClusterSource, GangBudgets, PodGroups
from bailiff.tally import Tally
from bailiff.worker import (
    ClusterActions,
    Shared,
    Unopposed,
    Watches,
    WatchMetrics,
    Worker,
    WorkerSettings,
    halves_of,
)
from bailiff.worker.systems import DeviceTaintsInWorker, NodeTaintsInWorker, Source
from tests.harness.api import PODS, name_of, uid_of
from tests.harness.objects import KEY, taint, tolerating

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bailiff.bootstrap.node_loss import Losing
    from bailiff.bootstrap.pressure import Pressing
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.worker import Election
    from bailiff.worker.systems.device_taints.devices import Devices
    from tests.harness.api import Bench
    from tests.harness.clocks import JumpingClock
    from tests.harness.objects import Object

EVENTS: Resource[Object] = Resource("", "v1", "events", dict)


@contextlib.asynccontextmanager
async def running_worker(
    cluster: Cluster,
    election: Election | None = None,
    *,
    devices: bool = False,
    clock: Clock | None = None,
    pressing: Pressing | None = None,
    losing: Losing | None = None,
    **settings: Any,
) -> AsyncIterator[Worker]:
    """A worker with everything but a process of its own; not yet synced."""
    clock, stop = clock or SystemClock(), asyncio.Event()
    election = election or Unopposed()
    actions = ClusterActions(cluster.fenced(election.may_act), instance="test")
    chosen = WorkerSettings(**{"shutdown_grace": 5.0} | settings)
    registry = CollectorRegistry()
    keep = KEEP_LITTLE if pressing is None else pressing.keep
    keep = keep if losing is None else keep | NODE_LOSS_KEEP
    watches = Watches(cluster, clock, WatchMetrics(registry), keep)
    source = Source(cluster, watches) if devices or losing else None
    async with halves_with(pressing, cluster, clock) as halves:
        lost = {} if losing is None else losing.halves(clock)
        systems = halves_of(SYSTEMS, {**halves, **lost})
        parts = (actions, clock, registry, chosen, election)
        tally = Tally(cluster.fenced(election.may_act), clock)
        gang_budgets = GangBudgets(ClusterSource(cluster, clock), clock)
        shared = Shared(tally, PodGroups(cluster, clock), gang_budgets)
        worker = Worker(*parts, source=source, systems=systems, shared=shared)
        pods, nodes = watches.pods(), watches.nodes()
        worker.trust(watches.healths, partial(cluster.get, NODES))
        task = asyncio.create_task(worker.run(pods, nodes, stop))
        try:
            yield worker
        finally:
            stop.set()
            await task


def deletions(worker: Worker) -> dict[str, int]:
    """How many pods have been evicted by each system, as upstream's metric of each says."""
    return {
        name: int(one.metrics.deletions._value.get())
        for name, one in worker.systems.items()
        if isinstance(one, NodeTaintsInWorker | DeviceTaintsInWorker)
    }


def devices_of(worker: Worker) -> Devices:
    """What the worker knows of devices."""
    (found,) = (s for s in worker.systems.values() if isinstance(s, DeviceTaintsInWorker))
    return found.devices


async def until(holds: Callable[[], object], within: float = 60.0) -> None:
    """Wait for something to come true; the bound is for a broken build, not a measurement."""
    async with asyncio.timeout(within):
        while True:
            found = holds()
            if found if not asyncio.iscoroutine(found) else await found:
                return
            await asyncio.sleep(0.02)


async def outlast(bench: Bench, clock: JumpingClock, seconds: float) -> None:
    """Skip so many seconds, and wait until the worker has done all that was due by then.

    It evicts the earliest first, so whoever goes at once now goes after them.
    """
    clock.skip(seconds)
    canary = await bench.pod(node=await bench.node(taint(KEY)))
    await until(lambda: is_going(bench, name_of(canary)))


async def skipping(clock: JumpingClock, seconds: float, holds: Callable[[], object]) -> None:
    """Wait for something, but not for the tries before it: how many it takes is not known."""

    async def skip_on() -> None:
        while True:
            clock.skip(seconds)
            await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as group:
        trying = group.create_task(skip_on())
        try:
            await until(holds)
        finally:
            trying.cancel()


async def retolerate(bench: Bench, name: str, seconds: int | None) -> None:
    """Give a pod another tolerationSeconds for KEY: all that may be changed of a toleration."""
    found = await bench.get(name)
    others = [t for t in found["spec"]["tolerations"] if t.get("key") != KEY]
    body = {"spec": {"tolerations": [tolerating(seconds), *others]}}
    await bench.cluster.patch(PODS, name, bench.namespace, body, patch_type=PatchType.MERGE)


def attempts(worker: Worker) -> dict[str, int]:
    """How many attempts came to each outcome, as the metric says."""
    return {
        sample.labels["outcome"]: int(sample.value)
        for metric in worker.metrics.attempts.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


async def is_going(bench: Bench, name: str) -> bool:
    """Whether a pod has been deleted, gracefully or altogether."""
    with contextlib.suppress(NotFoundError):
        pod = await bench.get(name)
        return "deletionTimestamp" in pod["metadata"]
    return True


async def messages(bench: Bench, pod: Object, reason: str = "TaintManagerEviction") -> list[str]:
    """The messages of our Events on a pod."""
    listing = await bench.cluster.list(EVENTS, namespace=bench.namespace)
    return [
        event["message"]
        for event in listing.items
        if event["involvedObject"]["uid"] == uid_of(pod) and event["reason"] == reason
    ]
