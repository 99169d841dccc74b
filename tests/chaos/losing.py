"""Nodes that are lost at random, and a zone that is cut off, while two workers are killed.

Of two zones some nodes fall silent for good, and half of those are tainted later by hand, as who
has switched them off does; one is silent for a while that is shorter than what a lost node has; one
says for good that it is not ready; and one says so and is tainted by mistake, though its kubelet
lives. All nodes of the third zone are cut off together, and come back one after the other. Each
node has a pod that goes with it, one of a StatefulSet, which must not be forced off without proof,
and one of a DaemonSet, which stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.chaos.scenarios import LEASE_NAMESPACE, LEASE_TIMES, beside
from tests.chaos.verdict import Verdict
from tests.chaos.workers import WorkerProcess
from tests.harness.api import PODS, Bench
from tests.harness.leases import make_leases
from tests.harness.lost_nodes import RENEW_EVERY, Fleet
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.cluster import Cluster
    from tests.chaos.plan import Losing
    from tests.chaos.scenarios import Told
    from tests.chaos.witness import Delete
    from tests.harness.kube.apiserver import KubeApiserver

# Seconds: until a node is silent, and what it has from then on.
SILENT_AFTER, AFTER = 6, 8
_FLAGS = (
    "--node-loss",
    f"--node-loss-silent-after={SILENT_AFTER}",
    f"--node-loss-after={AFTER}",
    "--node-loss-rate=5",
)
_LEASE = "losing"
# A node that is back by then has not lost anybody; a renewal and a look lie in between.
_BACK_BY = SILENT_AFTER + AFTER - 3
_CUT_OFF_FOR = SILENT_AFTER + AFTER + 12.0
_OWNERS = ("ReplicaSet", "StatefulSet", "DaemonSet")
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


@dataclass
class Losses:
    """What was done to whom.

    Attributes:
        namespace: of the pods.
        pods: UID by node and kind of the owner.
        earliest: of nodes whose pods are to go, seconds since 1970 before which none may.
        proven: of those that were tainted by hand rightly, when.
        spared: nodes whose pods stay, by what was done to them.
    """

    namespace: str
    pods: dict[tuple[str, str], str] = field(default_factory=dict)
    earliest: dict[str, float] = field(default_factory=dict)
    proven: dict[str, float] = field(default_factory=dict)
    spared: dict[str, str] = field(default_factory=dict)

    def judge(self, deletes: Iterable[Delete]) -> Verdict:
        """Hold what the API server has accepted against what was to be."""
        of: defaultdict[str, list[Delete]] = defaultdict(list)
        for one in deletes:
            of[one.uid].append(one)
        found = Verdict()
        for (node, owner), uid in self.pods.items():
            goes = node in self.earliest and owner != "DaemonSet"
            found.expected += goes
            found.evicted += goes and bool(of[uid])
            found.lost += goes and not of[uid]
            found.wrong_uid += bool(of[uid]) and not goes
            found.wrong_uid += sum(not one.guarded for one in of[uid])
            if goes:
                self._judge_times(found, node, of[uid])
        return found

    def _judge_times(self, found: Verdict, node: str, deletes: list[Delete]) -> None:
        ordinary = [one for one in deletes if not one.forced]
        forced = [one for one in deletes if one.forced]
        found.twice += len(ordinary) > 1
        found.early += sum(one.at < self.earliest[node] for one in deletes)
        # Without proof, or before there was any.
        found.wrong_uid += sum(one.at < self.proven.get(node, one.at + 1) for one in forced)
        found.late += [one.at - self.earliest[node] for one in deletes[:1]]
        found.lost += node in self.proven and not forced


async def nodes_that_fall_silent(
    server: KubeApiserver, cluster: Cluster, plan: Losing, seed: int, told: Told
) -> Losses:
    """Have it all happen."""
    rng, bench = random.Random(seed), await Bench.set_up(cluster)
    losses = Losses(bench.namespace)
    async with Fleet(bench).living() as fleet:
        zones = [await fleet.add(plan.nodes, zone) for zone in ("loss-a", "loss-b", "loss-c")]
        for name, owner in itertools.product(itertools.chain(*zones), _OWNERS):
            pod = await fleet.pod(f"{owner.lower()}-{name}", name, owner=owner)
            losses.pods[name, owner] = pod["metadata"]["uid"]
        await make_leases(cluster, LEASE_NAMESPACE, name=_LEASE)
        workers = [_worker(server, name) for name in ("loser", "heir")]
        async with beside(*(one.run() for one in workers)):
            for one in workers:
                await until(one.pages.ready)
            await asyncio.sleep(SILENT_AFTER)
            await asyncio.gather(
                *(_lose(fleet, names, plan, rng, losses) for names in zones[:2]),
                _cut_off(fleet, zones[2], rng, losses),
                _kill(workers, plan, rng),
            )
            with contextlib.suppress(TimeoutError):
                await until(lambda: _all_gone(fleet, losses), plan.settle)
            # What may stay has had its chance to be evicted by mistake.
            await asyncio.sleep(AFTER)
        told.facts["nodes silent for good, of those proven off, and not ready"] = (
            f"{len(losses.earliest)}, {len(losses.proven)};"
            f" left alone {len(losses.spared)};"
            f" workers killed {sum(one.kills for one in workers)} times"
        )
    return losses


def _worker(server: KubeApiserver, name: str) -> WorkerProcess:
    """One of two with one Lease: whoever is killed is followed by the other, or by itself."""
    lease = ("--leader-elect", f"--lease-namespace={LEASE_NAMESPACE}", f"--lease-name={_LEASE}")
    told = (*_FLAGS, *lease, *LEASE_TIMES, f"--identity={name}")
    return WorkerProcess(name, server.kubeconfig, server.folder, *told)


async def _lose(
    fleet: Fleet, names: list[str], plan: Losing, rng: random.Random, losses: Losses
) -> None:
    """Never half of a zone, which would stop it."""
    *gone, back, unready, doubted = rng.sample(names, plan.gone + 3)
    async with asyncio.TaskGroup() as group:
        group.create_task(_be_silent_for_a_while(fleet, back, rng, losses))
        group.create_task(_say_not_ready(fleet, unready, losses))
        group.create_task(_be_tainted_by_mistake(fleet, doubted, losses))
        for index, name in enumerate(gone):
            await asyncio.sleep(rng.uniform(0.5, 4.0))
            told, tainted = rng.random() < 0.5, index % 2 == 0
            group.create_task(_fall_silent(fleet, name, losses, told=told, tainted=tainted))


async def _fall_silent(
    fleet: Fleet, name: str, losses: Losses, *, told: bool, tainted: bool
) -> None:
    """For good; `told`: the node lifecycle controller says so after its time."""
    fleet.silent.add(name)
    # One that is renewed at this moment still counts.
    await asyncio.sleep(RENEW_EVERY)
    losses.earliest[name] = fleet.renewed[name] + SILENT_AFTER + AFTER
    await asyncio.sleep(SILENT_AFTER)
    if told:
        await fleet.say_ready(name, "Unknown")
    if tainted:
        await asyncio.sleep(AFTER)
        losses.proven[name] = time.time()
        await _taint(fleet, name)


async def _taint(fleet: Fleet, name: str) -> None:
    taint = {"key": _OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoSchedule"}
    await fleet.bench.taint(name, taint)


async def _be_silent_for_a_while(
    fleet: Fleet, name: str, rng: random.Random, losses: Losses
) -> None:
    losses.spared[name] = "silent for a while"
    fleet.silent.add(name)
    await asyncio.sleep(rng.uniform(SILENT_AFTER, _BACK_BY))
    await fleet.come_back(name)


async def _say_not_ready(fleet: Fleet, name: str, losses: Losses) -> None:
    losses.earliest[name] = time.time() + AFTER
    await fleet.say_ready(name, "False")


async def _be_tainted_by_mistake(fleet: Fleet, name: str, losses: Losses) -> None:
    """Its kubelet is not ready and lives: what is off is another machine, and nobody goes."""
    losses.spared[name] = "tainted by mistake"
    await _taint(fleet, name)
    await fleet.say_ready(name, "False")


async def _cut_off(fleet: Fleet, names: list[str], rng: random.Random, losses: Losses) -> None:
    await asyncio.sleep(rng.uniform(1.0, 5.0))
    losses.spared |= dict.fromkeys(names, "cut off with its zone")
    fleet.silent.update(names)
    await asyncio.sleep(_CUT_OFF_FOR)
    for name in rng.sample(names, len(names)):
        await fleet.come_back(name)
        await asyncio.sleep(rng.uniform(0.0, 0.5))


async def _kill(workers: list[WorkerProcess], plan: Losing, rng: random.Random) -> None:
    for _ in range(plan.kills):
        await asyncio.sleep(rng.uniform(5.0, 10.0))
        await rng.choice(workers).kill()


async def _all_gone(fleet: Fleet, losses: Losses) -> bool:
    """Pods that were deleted stay, since no kubelet ends them, unless they are forced."""
    listed = await fleet.bench.cluster.list(PODS, namespace=losses.namespace)
    there = {one["metadata"]["uid"]: one["metadata"] for one in listed.items}
    for name in losses.earliest:
        for owner in ("ReplicaSet", "StatefulSet"):
            meta = there.get(losses.pods[name, owner])
            if meta is not None and (name in losses.proven or "deletionTimestamp" not in meta):
                return False
    return True
