"""What happens, and when: seeded, so that a run can be told again."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bailiff.cluster import Cluster, ClusterError, Resource
from tests.chaos.fleet import Fleet
from tests.chaos.witness import Witness
from tests.chaos.workers import WorkerProcess
from tests.harness.kube.faulty_proxy import FaultyProxy
from tests.harness.leases import make_leases
from tests.harness.working import until

if TYPE_CHECKING:
    from tests.chaos.plan import Plan
    from tests.harness.kube.apiserver import KubeApiserver

LEASES: Resource[dict[str, Any]] = Resource("coordination.k8s.io", "v1", "leases", dict)
_LEASE = "chaos"
LEASE_NAMESPACE = "kube-system"
# Seconds: held, renewed until, tried every. A stop must outlast the first.
LEASE_TIMES = ("--lease-duration=6", "--renew-deadline=4", "--retry-period=1")
_STOPPED_FOR = 12.0
_POLL = 0.25
_MET_410 = '"cause": "expired"'
# A watch waits ever longer before it tries again, half a minute and its jitter at most; in seconds.
_WATCH_PATIENCE = 60.0


@dataclass
class Told:
    """What was done, for the report."""

    facts: dict[str, Any] = field(default_factory=dict)


async def timed_evictions(
    server: KubeApiserver, cluster: Cluster, witness: Witness, plan: Plan, seed: int, told: Told
) -> Fleet:
    """One worker behind a bad network, killed again and again; the API server too."""
    rng = random.Random(seed)
    fleet = Fleet(cluster, "chaos")
    names = await fleet.set_up(plan.nodes + 1)
    nodes, spared = names[:-1], names[-1]
    await fleet.spread(plan.timed, nodes, plan.spread)
    late = plan.spread + plan.unhurried
    reborn = [await fleet.add("db", rng.choice(nodes), late, goes=True) for _ in range(plan.reborn)]
    for _ in range(plan.cancelled):
        await fleet.add("spared", spared, late, goes=False)
    for _ in range(plan.forever):
        await fleet.add("stoic", rng.choice(names), None, goes=False)
    async with FaultyProxy(server.port, server.tls.ca, rng, plan.fault_rate) as proxy:
        kubeconfig = proxy.kubeconfig(server.kubeconfig)
        worker = WorkerProcess("worker", kubeconfig, server.folder)
        async with beside(worker.run()):
            await until(worker.pages.ready)
            await fleet.taint(names)
            calm = asyncio.Lock()
            await asyncio.gather(
                _kill_worker(worker, plan, rng, calm),
                _break_apiserver(server, proxy, worker, fleet, reborn, plan, rng, calm, told),
                _untaint(fleet, spared, plan),
            )
            await all_gone(fleet, witness, late + plan.settle)
            # What may stay has had its chance to be evicted by mistake.
            await asyncio.sleep(max(0.0, fleet.tainted_at + late + 5 - time.time()))
        told.facts |= {
            "worker killed": worker.kills,
            "worker ended by itself": worker.restarts,
            "watches that met 410 Gone": worker.logged(_MET_410),
            "requests through the proxy": dict(proxy.counts.most_common()),
        }
    return fleet


async def _kill_worker(
    worker: WorkerProcess, plan: Plan, rng: random.Random, calm: asyncio.Lock
) -> None:
    pause = plan.spread / (plan.worker_kills + 1)
    for _ in range(plan.worker_kills):
        await asyncio.sleep(pause * rng.uniform(0.7, 1.2))
        async with calm:
            await worker.kill()


async def _break_apiserver(
    server: KubeApiserver,
    proxy: FaultyProxy,
    worker: WorkerProcess,
    fleet: Fleet,
    reborn: list[str],
    plan: Plan,
    rng: random.Random,
    calm: asyncio.Lock,
    told: Told,
) -> None:
    pause = plan.spread / (plan.outages + 1)
    share = len(reborn) // max(plan.outages, 1)
    for outage in range(plan.outages):
        await asyncio.sleep(pause * rng.uniform(0.4, 0.8))
        # In every other outage the worker lives on, so that it is its watch that meets the 410.
        spared = outage % 2 == 0
        async with calm if spared else contextlib.nullcontext():
            if spared:
                await until(worker.pages.ready)
            before = worker.logged(_MET_410)
            proxy.down = True
            proxy.cut()
            # What the worker has not seen, the API server will not remember.
            for uid in reborn[outage * share : (outage + 1) * share]:
                await fleet.reborn(uid)
            await asyncio.to_thread(server.restart_apiserver, kill=True)
            await asyncio.to_thread(server.compact)
            proxy.down = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WATCH_PATIENCE if spared else 0.0):
                    while worker.logged(_MET_410) == before:
                        await asyncio.sleep(_POLL)
    told.facts["API server killed, etcd compacted"] = plan.outages


async def _untaint(fleet: Fleet, node: str, plan: Plan) -> None:
    await asyncio.sleep(plan.spread / 2)
    await fleet.untaint(node)


async def two_workers(
    server: KubeApiserver, cluster: Cluster, witness: Witness, plan: Plan, told: Told
) -> Fleet:
    """Two workers with one Lease; the one that holds it is stopped, replaced, and continued."""
    fleet = Fleet(cluster, "led")
    nodes = await fleet.set_up(4)
    await fleet.spread(plan.led, nodes, plan.led_spread)
    kubeconfig, rotating = _login(server, plan)
    await make_leases(cluster, LEASE_NAMESPACE, name=_LEASE)
    lease = ["--leader-elect", f"--lease-namespace={LEASE_NAMESPACE}", f"--lease-name={_LEASE}"]
    workers = {
        name: WorkerProcess(
            name, kubeconfig, server.folder, *lease, *LEASE_TIMES, f"--identity={name}"
        )
        for name in ("one", "other")
    }
    async with beside(*(worker.run() for worker in workers.values()), *rotating):
        await fleet.taint(nodes)
        handovers: list[float | None] = []
        for _ in range(plan.stops):
            await asyncio.sleep(plan.led_spread / plan.stops / 3)
            # Without a leader the pods are lost, which is for the verdict to say.
            handovers.append(None)
            with contextlib.suppress(TimeoutError):
                handovers[-1] = round(await _stop_leader(cluster, workers), 1)
        await all_gone(fleet, witness, plan.led_spread + plan.settle)
    told.facts["hand-over after SIGSTOP, seconds"] = handovers
    told.facts["of the two, ended by itself"] = sum(worker.restarts for worker in workers.values())
    return fleet


def _login(server: KubeApiserver, plan: Plan) -> tuple[Path, list[Coroutine[Any, Any, None]]]:
    """A kubeconfig, and what is to run beside those who use it."""
    if not plan.certificate_life:
        return server.kubeconfig, []
    folder = server.folder / "certificate"
    folder.mkdir()
    kubeconfig = server.client_certificate(folder, plan.certificate_life)
    return kubeconfig, [_rotate(server, folder, plan.certificate_life)]


async def _rotate(server: KubeApiserver, folder: Path, life: float) -> None:
    """New certificates over the old ones, before those expire, as cert-manager does it."""
    while True:
        await asyncio.sleep(life / 2)
        server.rotate(folder, life)


async def _stop_leader(cluster: Cluster, workers: dict[str, WorkerProcess]) -> float:
    """Stop whoever leads for longer than the Lease holds; how long it took another to lead."""
    leader = await _holder(cluster, lambda holder: holder in workers)
    begun = time.monotonic()
    workers[leader].stop()
    try:
        await _holder(cluster, lambda holder: holder in workers and holder != leader)
        taken = time.monotonic() - begun
        await asyncio.sleep(max(0.0, _STOPPED_FOR - taken))
    finally:
        workers[leader].resume()
    return taken


async def _holder(cluster: Cluster, wanted: Any) -> str:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(ClusterError):
                for lease in (await cluster.list(LEASES, namespace=LEASE_NAMESPACE)).items:
                    holder: str = lease["spec"].get("holderIdentity") or ""
                    if lease["metadata"]["name"].startswith(_LEASE) and wanted(holder):
                        return holder
            await asyncio.sleep(_POLL)


async def all_gone(fleet: Fleet, witness: Witness, seconds: float) -> None:
    """Wait until all that are to go have gone, or so many seconds after the taint."""
    waiting = {uid for uid, pod in fleet.pods.items() if pod.goes}
    while time.time() < fleet.tainted_at + seconds:
        if all(uid in witness.ending or uid in witness.vanished for uid in waiting):
            return
        await asyncio.sleep(_POLL)


@contextlib.asynccontextmanager
async def beside(*activities: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """These run as long as the block does; a failure of one ends it."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(activity) for activity in activities]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
