"""Taint, untaint, taint again: nobody goes before the second taint's time, and nobody late.

Four scenes of 100 nodes with 20 pods each, that tolerate the taint for 40 s: the worker at work
all the time; killed before the taint goes and started after it is back; the same with nodes of
which the API server keeps no managedFields by itself; at work, but a webhook denies it to take
away what it has written on the nodes. A storm of as many pods before each scene, and one
at the end, tell how fast they can go at all.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.acceptance.stage import Stage, stage
from tests.chaos.fleet import Fleet
from tests.chaos.scenarios import beside
from tests.chaos.workers import WorkerProcess
from tests.harness.api import NODES, name_of
from tests.harness.kube.webhook import Webhook, keeping_annotations
from tests.harness.working import until

NODE_COUNT, PODS, TOLERATED = 100, 2000, 40
# Seconds that the taint was there, and was gone.
STAYED, GONE = 8.0, 2.0
_PATIENCE = 60.0
# Kubernetes notes the time of an edit by the second, and a worker that was away has only that.
_DATED_TO = 1.0
_DENIED = "clear-denied"
_BARE = "away-bare"


@dataclass(frozen=True)
class Figures:
    """Of one scene; seconds after the time of the pod that was to go first.

    Attributes:
        early: pods that went before their own time.
        lost: that did not go.
        first: when the first went.
        last: when the last did.
    """

    early: int
    lost: int
    first: float
    last: float


Change = Callable[[Stage, WorkerProcess, Fleet], Awaitable[None]]


async def run() -> bool:
    """Everything; whether all was well."""
    scenes = {
        "at-work": (_at_work, 1.0),
        "away": (_away, 1.0 + _DATED_TO),
        _BARE: (_away, 1.0 + _DATED_TO),
        _DENIED: (_at_work, 1.0),
    }
    good = []
    async with stage() as found:
        before = await _storm(found, "before")
        for name, (change, within) in scenes.items():
            figures = await _scene(found, name, TOLERATED, change)
            after = await _storm(found, f"after-{name}")
            # Other programs may slow the machine down: what is near in time is compared.
            good.append(_told(name, figures, within, min(before, after)))
            before = after
    return all(good)


async def _storm(found: Stage, name: str) -> float:
    """Evictions a second, with all pods due at once."""
    storm = await _scene(found, f"storm-{name}", 0, _no_change)
    rate = PODS / storm.last
    print(f"storm {name}: {rate:.0f} evictions/s, first after {storm.first:.2f} s", flush=True)
    return rate


def _told(name: str, found: Figures, within: float, rate: float) -> bool:
    longest = within + PODS / (0.8 * rate)
    print(
        f"{name}: {found.early:,} early, {found.lost:,} lost; first {found.first:+.2f} s (at most"
        f" {within:.0f}), last {found.last:+.2f} s (at most {longest:.1f})",
        flush=True,
    )
    return not (found.early or found.lost) and found.first <= within and found.last <= longest


async def _scene(found: Stage, name: str, tolerated: int, change: Change) -> Figures:
    fleet = await found.fleet(name, NODE_COUNT, PODS, tolerated, bare=name == _BARE)
    worker = WorkerProcess(f"worker-{name}", found.server.kubeconfig, found.server.folder)
    async with beside(worker.run()), _clears(found, fleet):
        await until(worker.pages.ready)
        await fleet.taint_undated(fleet.nodes)
        await change(found, worker, fleet)
        await found.all_gone([fleet], tolerated + _PATIENCE)
    return _figures(found, fleet)


@contextlib.asynccontextmanager
async def _clears(found: Stage, fleet: Fleet) -> AsyncIterator[None]:
    if fleet.namespace != _DENIED:
        yield
        return
    webhook = Webhook(found.server.tls, keeping_annotations(set(fleet.nodes)))
    async with webhook.registered(found.cluster, _DENIED, "UPDATE", "nodes"):
        # The API server asks it before long; the taints stay for longer.
        yield
        print(f"{_DENIED}: {webhook.denied.total():,} writes denied")


async def _no_change(*_: object) -> None:
    """The taint stays."""


async def _at_work(found: Stage, _: WorkerProcess, fleet: Fleet) -> None:
    await _noted(found, fleet)
    await fleet.untaint(*fleet.nodes)
    await fleet.taint_undated(fleet.nodes)


async def _away(found: Stage, worker: WorkerProcess, fleet: Fleet) -> None:
    await _noted(found, fleet)
    async with worker.away():
        await fleet.untaint(*fleet.nodes)
        await asyncio.sleep(GONE)
        await fleet.taint_undated(fleet.nodes)


async def _noted(found: Stage, fleet: Fleet) -> None:
    """Wait until each node says since when it is tainted, and for some seconds."""

    async def all_noted() -> bool:
        listing = await found.cluster.list(NODES)
        annotations = {name_of(n): n["metadata"].get("annotations", {}) for n in listing.items}
        return all(ANNOTATION in annotations[name] for name in fleet.nodes)

    await asyncio.sleep(STAYED)
    await until(all_noted)


def _figures(found: Stage, fleet: Fleet) -> Figures:
    accepted = found.deletions().accepted
    asked = {uid: min(accepted[uid]) for uid in fleet.pods if uid in accepted}
    due = {uid: fleet.deadline(pod) for uid, pod in fleet.pods.items()}
    early = sum(at < due[uid] for uid, at in asked.items())
    first_due = min(due.values())
    times = sorted(at - first_due for at in asked.values()) or [float("inf")]
    return Figures(early, len(fleet.pods) - len(asked), times[0], times[-1])
