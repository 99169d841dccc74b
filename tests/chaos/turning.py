"""Taints that go and come back, while clocks step, requests are refused and watches expire."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.cluster import Cluster
from tests.chaos.fleet import Fleet
from tests.chaos.scenarios import Told, all_gone, beside
from tests.chaos.shifted_worker import WallClock
from tests.chaos.witness import Witness
from tests.chaos.workers import WorkerProcess
from tests.harness.kube.faulty_proxy import FaultyProxy
from tests.harness.kube.storms import NotFoundStorm, Storm, TooManyStorm
from tests.harness.kube.webhook import (
    Denial,
    Review,
    Webhook,
    as_if_gone,
    keeping_annotations,
    with_code,
)
from tests.harness.working import until

if TYPE_CHECKING:
    from tests.chaos.plan import Turning
    from tests.harness.kube.apiserver import KubeApiserver

_NAMESPACE = "turning"
_HOUR = 3600.0
_CODES = (400, 403, 404, 409, 422, 500)
# Requests that the API server still takes in a storm of 429, each second.
_TAKEN = 20
_EXPIRIES = 3


@dataclass
class Stage:
    """What one worker and its world are made of.

    Attributes:
        rng: makes the choices that a seed is to repeat.
        faults: makes those that depend on when requests come.
        denying: while it is true no pod may be deleted.
    """

    server: KubeApiserver
    proxy: FaultyProxy
    worker: WorkerProcess
    clock: WallClock
    fleet: Fleet
    plan: Turning
    rng: random.Random
    faults: random.Random
    denying: bool = False

    def judge_delete(self, review: Review) -> Denial | None:
        """Every code is as good as any."""
        if not self.denying or review["namespace"] != _NAMESPACE:
            return None
        code = self.faults.choice([*_CODES, None])
        return with_code(code) if code else as_if_gone(review)


async def taints_that_return(
    server: KubeApiserver, cluster: Cluster, witness: Witness, plan: Turning, seed: int, told: Told
) -> Fleet:
    """One worker; the seed chooses in which order things go wrong."""
    rng, faults = random.Random(seed), random.Random(seed)
    fleet = Fleet(cluster, _NAMESPACE)
    steady, *returning = await _set_up(fleet, plan)
    clock = WallClock(server.folder / "wall-clock")
    async with FaultyProxy(server.port, server.tls.ca, faults, plan.fault_rate) as proxy:
        kubeconfig = proxy.kubeconfig(server.kubeconfig)
        worker = WorkerProcess("turned-worker", kubeconfig, server.folder, clock=clock)
        stage = Stage(server, proxy, worker, clock, fleet, plan, rng, faults)
        deletes = Webhook(server.tls, stage.judge_delete)
        clears = Webhook(server.tls, keeping_annotations(set(returning[-1])))
        async with (
            deletes.registered(cluster, "chaos-deletes", "DELETE", "pods"),
            clears.registered(cluster, "chaos-clears", "UPDATE", "nodes"),
            beside(worker.run()),
        ):
            await until(worker.pages.ready)
            await fleet.taint(steady)
            order = await _trouble(stage, returning)
            await all_gone(fleet, witness, plan.latest + plan.settle)
    told.facts |= {
        "in the order of the seed": ", ".join(order),
        "worker away while taints came back": worker.kills,
        "deletes denied by the webhook": deletes.denied.total(),
        "clears denied by the webhook": clears.denied.total(),
        "requests then": dict(proxy.counts.most_common()),
    }
    return fleet


async def _set_up(fleet: Fleet, plan: Turning) -> list[list[str]]:
    """Four groups of nodes, of which the first keeps its taint; their names."""
    names = await fleet.set_up(4 * plan.nodes)
    steady, *returning = (names[first::4] for first in range(4))
    await fleet.spread(plan.timed, steady, plan.spread)
    for group in returning:
        await fleet.spread(plan.returning, group, plan.longest, shortest=plan.shortest)
    return [steady, *returning]


async def _trouble(stage: Stage, returning: list[list[str]]) -> list[str]:
    """All of it, one kind at a time, and meanwhile the taints; the order."""
    up, away, denied = returning
    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "404": lambda: _storm(stage, NotFoundStorm(stage.faults)),
        "429": lambda: _storm(stage, TooManyStorm(_TAKEN)),
        "denials": lambda: _denials(stage),
        "an hour ahead": lambda: _clock_wrong(stage, _HOUR),
        "an hour behind": lambda: _clock_wrong(stage, -_HOUR),
        "watches expire": lambda: _watches_expire(stage),
    }
    # The last two after the worker's last restart, which would remember what it has forgotten.
    order = [*stage.rng.sample(sorted(kinds), len(kinds)), "404", "denials"]

    async def in_turn() -> None:
        for kind in order:
            await asyncio.sleep(stage.plan.pause)
            await kinds[kind]()

    await asyncio.gather(in_turn(), _go_and_come_back(stage, [*up, *denied], away))
    return order


async def _go_and_come_back(stage: Stage, seen: list[str], unseen: list[str]) -> None:
    """Untaint and taint again, so often; of some nodes only while the worker is away."""
    fleet, plan = stage.fleet, stage.plan
    await fleet.taint_undated([*seen, *unseen])
    for _ in range(plan.returns):
        await asyncio.sleep(plan.stays)
        await fleet.untaint(*seen)
        await asyncio.sleep(plan.gone * stage.rng.random())
        await fleet.taint_undated(seen)
        async with stage.worker.away():
            await fleet.untaint(*unseen)
            await asyncio.sleep(plan.gone * stage.rng.random())
            await fleet.taint_undated(unseen)


async def _storm(stage: Stage, storm: Storm) -> None:
    stage.proxy.storm = storm
    await asyncio.sleep(stage.plan.lasts)
    stage.proxy.storm = None


async def _denials(stage: Stage) -> None:
    stage.denying = True
    await asyncio.sleep(stage.plan.lasts)
    stage.denying = False


async def _clock_wrong(stage: Stage, ahead: float) -> None:
    stage.clock.set_ahead(ahead)
    await asyncio.sleep(stage.plan.lasts)
    stage.clock.set_ahead(0.0)


async def _watches_expire(stage: Stage) -> None:
    for _ in range(_EXPIRIES):
        await asyncio.to_thread(stage.server.compact)
        stage.proxy.expire()
        await asyncio.sleep(stage.plan.lasts / _EXPIRIES)
