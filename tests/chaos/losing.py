"""Nodes that fall silent at random, and a zone that is cut off, while the worker is killed.

Of two zones some nodes fall silent for good, and others for a while that is shorter than what a
lost node has; all of the third are cut off together, and come back. Each node has a pod that goes
with it, one of a StatefulSet, which must not be forced, and one of a DaemonSet, which stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from tests.chaos.verdict import Verdict
from tests.chaos.workers import WorkerProcess
from tests.harness.api import PODS, Bench
from tests.harness.lost_nodes import RENEW_EVERY, Fleet
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from typing import Any

    from bailiff.cluster import Cluster
    from tests.chaos.plan import Losing
    from tests.chaos.scenarios import Told
    from tests.harness.kube.apiserver import KubeApiserver

# Seconds: until a node is silent, and what it has from then on.
SILENT_AFTER, AFTER = 6, 8
_FLAGS = (
    "--node-loss",
    f"--node-loss-silent-after={SILENT_AFTER}",
    f"--node-loss-after={AFTER}",
    "--node-loss-rate=5",
    "--no-leader-elect",
)
# A node that is back by then has not lost anybody; a renewal and a look lie in between.
_BACK_BY = SILENT_AFTER + AFTER - 3
_CUT_OFF_FOR = SILENT_AFTER + AFTER + 12.0


@dataclass
class _Happened:
    """What was done to whom.

    Attributes:
        gone: nodes that fell silent for good, and when they last gave a sign of life at the latest.
        back: nodes that were silent for a while.
        cut_off: of the zone that was.
    """

    gone: dict[str, float] = field(default_factory=dict)
    back: set[str] = field(default_factory=set)
    cut_off: set[str] = field(default_factory=set)


async def nodes_that_fall_silent(
    server: KubeApiserver, cluster: Cluster, plan: Losing, seed: int, told: Told
) -> Verdict:
    """Have it all happen; what came of it."""
    rng, bench = random.Random(seed), await Bench.set_up(cluster)
    async with Fleet(bench).living() as fleet:
        zones = [await fleet.add(plan.nodes, zone) for zone in ("loss-a", "loss-b", "loss-c")]
        for name in itertools.chain(*zones):
            await _fill(fleet, name)
        worker = WorkerProcess("loser", server.kubeconfig, server.folder, *_FLAGS)
        async with _beside(worker.run()):
            await until(worker.pages.ready)
            await asyncio.sleep(SILENT_AFTER)
            happened = _Happened()
            await asyncio.gather(
                *(_fall_silent(fleet, names, plan, rng, happened) for names in zones[:2]),
                _cut_off(fleet, zones[2], rng, happened),
                _kill(worker, plan, rng),
            )
            with contextlib.suppress(TimeoutError):
                await until(lambda: _all_gone(fleet, happened), plan.settle)
            verdict = await _judge(fleet, happened)
        told.facts["nodes silent for good, for a while, cut off with their zone"] = (
            f"{len(happened.gone)}, {len(happened.back)}, {len(happened.cut_off)};"
            f" worker killed {worker.kills} times"
        )
    return verdict


async def _fill(fleet: Fleet, node: str) -> None:
    for owner in ("ReplicaSet", "StatefulSet", "DaemonSet"):
        await fleet.pod(f"{owner.lower()}-{node}", node, owner=owner)


@contextlib.asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _fall_silent(
    fleet: Fleet, names: list[str], plan: Losing, rng: random.Random, happened: _Happened
) -> None:
    """Never half of a zone, which would stop it."""
    chosen = rng.sample(names, plan.gone + 1)
    for name in chosen[:-1]:
        await asyncio.sleep(rng.uniform(0.5, 4.0))
        # One that is renewed at this moment still counts.
        fleet.silent.add(name)
        happened.gone[name] = time.time() + RENEW_EVERY
        is_told = rng.random() < 0.5
        await asyncio.gather(
            *([_tell_of(fleet, name)] if is_told else []),
            _for_a_while(fleet, chosen[-1], rng, happened),
        )


async def _tell_of(fleet: Fleet, name: str) -> None:
    """As the node lifecycle controller does, once it has heard nothing for so long."""
    await asyncio.sleep(SILENT_AFTER + RENEW_EVERY)
    await fleet.say_ready(name, "Unknown")


async def _for_a_while(fleet: Fleet, name: str, rng: random.Random, happened: _Happened) -> None:
    fleet.silent.add(name)
    happened.back.add(name)
    await asyncio.sleep(rng.uniform(SILENT_AFTER, _BACK_BY))
    await fleet.come_back(name)


async def _cut_off(fleet: Fleet, names: list[str], rng: random.Random, happened: _Happened) -> None:
    await asyncio.sleep(rng.uniform(1.0, 5.0))
    happened.cut_off.update(names)
    fleet.silent.update(names)
    await asyncio.sleep(_CUT_OFF_FOR)
    await fleet.come_back(*names)


async def _kill(worker: WorkerProcess, plan: Losing, rng: random.Random) -> None:
    for _ in range(plan.kills):
        await asyncio.sleep(rng.uniform(5.0, 10.0))
        await worker.kill()


async def _all_gone(fleet: Fleet, happened: _Happened) -> bool:
    ending = await _deleted(fleet)
    return all(f"replicaset-{name}" in ending for name in happened.gone)


async def _deleted(fleet: Fleet) -> dict[str, Any]:
    """Pods that were deleted, by name; no kubelet ends them."""
    listed = await fleet.bench.cluster.list(PODS, namespace=fleet.bench.namespace)
    return {
        one["metadata"]["name"]: one["metadata"]
        for one in listed.items
        if "deletionTimestamp" in one["metadata"]
    }


async def _judge(fleet: Fleet, happened: _Happened) -> Verdict:
    """Whoever is not there at all was forced off, for which there was no proof."""
    ending, there = await _deleted(fleet), set(await fleet.pods())
    found = Verdict(expected=2 * len(happened.gone))
    for name, silent_from in happened.gone.items():
        for owner in ("replicaset", "statefulset"):
            pod = f"{owner}-{name}"
            found.wrong_uid += pod not in there
            meta = ending.get(pod)
            found.lost += meta is None
            if meta is not None:
                late = _deleted_at(meta) - (silent_from + SILENT_AFTER + AFTER)
                found.evicted += 1
                # A delete is told to the second, and the last sign of life may be as much older.
                found.early += late < -RENEW_EVERY - 1.0 - 1.0
                found.late.append(late)
        found.wrong_uid += f"daemonset-{name}" in ending
    spared = {pod for pod in ending if pod.partition("-")[2] not in happened.gone}
    found.wrong_uid += len(spared)
    return found


def _deleted_at(meta: dict[str, Any]) -> float:
    ends = datetime.fromisoformat(meta["deletionTimestamp"])
    return ends.timestamp() - float(meta["deletionGracePeriodSeconds"])
