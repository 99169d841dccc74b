"""Nodes that fall silent, given up by us and by a real kube-controller-manager, side by side.

Two API servers with 60 nodes in three zones each, and one script for both: of two zones some nodes
fall silent, of the third all do. On the one kube-controller-manager taints lost nodes, and evicts
when the pods' tolerations are over; on the other our worker does by Leases alone, is killed twice,
and its wall clock is an hour ahead. The zones of which nodes are left have to be given up alike, to
10 %; in the one without a ready node kube-controller-manager evicts and we do not.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bailiff.cluster import connect
from tests.chaos.shifted_worker import WallClock
from tests.chaos.workers import WorkerProcess
from tests.harness.api import PODS, Bench, name_of
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import Program
from tests.harness.lost_nodes import Fleet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# By zone: how many of its nodes fall silent.
SILENT = {"a": 8, "b": 20, "c": 6}
IN_A_ZONE = 20
# Seconds: until a node counts as lost, and what its pods have from then on.
GRACE, AFTER = 20, 30
KILLS = (70.0, 95.0)
# All are given up by then, at one in ten seconds in each zone.
UNTIL = GRACE + AFTER + 10 * (max(SILENT["a"], SILENT["c"]) + 3)
_HOUR = 3600.0
_RENEW_EVERY = 5.0
_TOLERATED = "node.kubernetes.io/unreachable"
_MANAGER = (
    "--controllers=taint-eviction-controller,node-lifecycle-controller",
    "--leader-elect=false",
    "--secure-port=0",
    f"--node-monitor-grace-period={GRACE}s",
    f"--node-startup-grace-period={GRACE}s",
)
_WORKER = (
    "--node-loss",
    f"--node-loss-silent-after={GRACE}",
    f"--node-loss-after={AFTER}",
    "--no-leader-elect",
)


@dataclass
class Side:
    """One of the two clusters.

    Attributes:
        name: who evicts there.
        server: its API server.
        fleet: its nodes.
        silent: those that fall silent, by zone.
        at: second of the outage at which the first pod of a node was deleted.
    """

    name: str
    server: KubeApiserver
    fleet: Fleet
    silent: dict[str, list[str]] = field(default_factory=dict)
    at: dict[str, float] = field(default_factory=dict)

    async def populate(self) -> None:
        for zone, number in SILENT.items():
            names = await self.fleet.add(IN_A_ZONE, zone)
            self.silent[zone] = names[:number]
            await asyncio.gather(*(self._pod(name) for name in names))

    async def _pod(self, node: str) -> None:
        toleration = {
            "key": _TOLERATED,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": AFTER,
        }
        await self.fleet.bench.pod(f"on-{node}", node=node, tolerations=[toleration])

    def break_down(self) -> None:
        self.fleet.silent.update(*self.silent.values())

    async def look(self, began: datetime) -> None:
        """When each pod was deleted, as the API server has it, to the second."""
        listed = await self.fleet.bench.cluster.list(PODS, namespace=self.fleet.bench.namespace)
        for pod in listed.items:
            meta = pod["metadata"]
            node = name_of(pod).removeprefix("on-")
            if "deletionTimestamp" in meta and node not in self.at:
                ends = datetime.fromisoformat(meta["deletionTimestamp"])
                given = float(meta["deletionGracePeriodSeconds"])
                self.at[node] = (ends - began).total_seconds() - given

    def times(self, zone: str) -> list[float]:
        return sorted(self.at[node] for node in self.silent[zone] if node in self.at)

    def rate(self, zone: str) -> float:
        """Nodes a second; 0: fewer than two were given up."""
        times = self.times(zone)
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0

    @property
    def wrongly(self) -> list[str]:
        """Nodes that were given up and had not fallen silent."""
        return [one for one in self.at if not any(one in named for named in self.silent.values())]


@contextlib.asynccontextmanager
async def _side(name: str) -> AsyncIterator[Side]:
    with KubeApiserver([]) as server:
        async with await connect(server.kubeconfig) as cluster:
            bench = await Bench.set_up(cluster)
            async with Fleet(bench, renew_every=_RENEW_EVERY).living() as fleet:
                yield Side(name, server, fleet)


async def run() -> bool:
    """Whether the promise was kept."""
    async with _side("kube-controller-manager") as theirs, _side("bailiff") as ours:
        with tempfile.TemporaryDirectory(prefix="bailiff-nodeloss-") as folder:
            await asyncio.gather(theirs.populate(), ours.populate())
            await _outage(theirs, ours, Path(folder))
    _tell(theirs, ours)
    return _kept(theirs, ours)


async def _outage(theirs: Side, ours: Side, folder: Path) -> None:
    manager = Program(
        "kube-controller-manager",
        [f"--kubeconfig={theirs.server.kubeconfig}", *_MANAGER],
        folder,
    )
    clock = WallClock(folder / "clock")
    clock.set_ahead(_HOUR)
    worker = WorkerProcess("bailiff", ours.server.kubeconfig, folder, *_WORKER, clock=clock)
    manager.start()
    working = asyncio.create_task(worker.run())
    try:
        # Both have seen everybody live.
        await asyncio.sleep(2 * GRACE)
        for side in (theirs, ours):
            side.break_down()
        # Leases were renewed up to five seconds ago.
        began = datetime.now().astimezone()
        killing = asyncio.create_task(_kill(worker))
        loop = asyncio.get_running_loop()
        ends = loop.time() + UNTIL
        while loop.time() < ends:
            await asyncio.sleep(2)
            await asyncio.gather(theirs.look(began), ours.look(began))
        await killing
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await asyncio.to_thread(manager.stop)


async def _kill(worker: WorkerProcess) -> None:
    before = 0.0
    for at in KILLS:
        await asyncio.sleep(at - before)
        before = at
        await worker.kill()


def _tell(theirs: Side, ours: Side) -> None:
    print(f"{'zone':5}{'node':>5}{theirs.name:>26}{ours.name:>12}   seconds after the outage")
    for zone in SILENT:
        pairs = zip(_padded(theirs, zone), _padded(ours, zone), strict=True)
        for index, (their, our) in enumerate(pairs, start=1):
            print(f"{zone:5}{index:>5}{their:>26}{our:>12}")
        rates = f"{theirs.rate(zone):>26.3f}{ours.rate(zone):>12.3f}"
        print(f"{zone:5}{'rate':>5}{rates}   nodes a second")


def _padded(side: Side, zone: str) -> list[str]:
    times = [f"{one:.0f}" for one in side.times(zone)]
    return times + ["-"] * (SILENT[zone] - len(times))


def _kept(theirs: Side, ours: Side) -> bool:
    alike = {
        zone: abs(ours.rate(zone) - theirs.rate(zone)) <= 0.1 * theirs.rate(zone)
        for zone in ("a", "c")
    }
    all_gone = all(len(ours.times(zone)) == SILENT[zone] for zone in alike)
    early = [
        at for zone in alike for at in ours.times(zone) if at < GRACE + AFTER - _RENEW_EVERY - 1
    ]
    told = {"alike": alike, "all gone": all_gone, "early": early, "wrongly": ours.wrongly}
    print(told, "of the zone that was cut off:", len(ours.times("b")))
    kept = all(alike.values()) and all_gone and not early and not ours.wrongly
    return kept and ours.times("b") == []
