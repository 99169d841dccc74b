"""60 processes fill a cgroup that stands for a node, at 50, 200 and 1,000 MiB a second.

Measured: from the moment at which less is available than the threshold to the beginning of the
round, and to the delete of a pod; which pod; and how often the kernel's OOM killer came first, with
the agent and without.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from bailiff.cluster import connect
from tests.harness.agent_process import AgentProcess, agent_process
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, NodeCgroup, node_cgroup

LIMIT, LEFT = 1024 * MIB, 300 * MIB
RATES = (50, 200, 1000)
TIMES = 20
AIM = 0.2
_CALM = 100


class Ramp(NamedTuple):
    """What became of one; seconds, None: it did not come to that."""

    to_round: float | None
    to_delete: float | None
    victim: str
    oom_kills: int


class Crossing(threading.Thread):
    """Looks every half millisecond whether less is available than the threshold.

    Attributes:
        at: when it was first so, by time.monotonic; None: it never was.
    """

    def __init__(self, node: NodeCgroup) -> None:
        super().__init__(daemon=True)
        self._files = [node.memory / name for name in node.files]
        self.at: float | None = None
        self._over = False

    def run(self) -> None:
        usage, stat = (os.open(one, os.O_RDONLY) for one in self._files)
        while not self._over and self.at is None:
            used = int(os.pread(usage, 64, 0))
            now = time.monotonic()
            told = os.pread(stat, 8192, 0)
            if LIMIT - (used - _inactive(told)) < LEFT:
                self.at = now
            time.sleep(0.0005)
        os.close(usage)
        os.close(stat)

    def end(self) -> None:
        self._over = True
        self.join()


def _inactive(told: bytes) -> int:
    for name in (b"total_inactive_file ", b"\ninactive_file "):
        if name in told:
            return int(told.split(name, 1)[1].split(b"\n", 1)[0])
    return 0


async def run() -> bool:
    """Whether every ramp ended with the right pod, without an OOM kill, in time."""
    with tempfile.TemporaryDirectory(prefix="bailiff-ramps-") as folder, KubeApiserver() as server:
        async with await connect(server.kubeconfig) as cluster:
            nodes: list[NodeCgroup] = []
            api = NodeApi(cluster, lambda uid: nodes[-1].pods[uid].kill())
            await api.set_up()
            ending = asyncio.create_task(api.end_deleted())
            try:
                without = [await _ramp(api, nodes, Path(folder), 1000, None) for _ in range(3)]
                print(f"without an agent: {sum(one.oom_kills for one in without)} OOM kills in 3")
                found = {
                    rate: [
                        await _ramp(api, nodes, Path(folder), rate, server.kubeconfig)
                        for _ in range(TIMES)
                    ]
                    for rate in RATES
                }
            finally:
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
    kept = [_told(rate, ramps) for rate, ramps in found.items()]
    return all(kept)


async def _ramp(
    api: NodeApi, nodes: list[NodeCgroup], folder: Path, rate: int, kubeconfig: Path | None
) -> Ramp:
    with node_cgroup(folder, LIMIT) as node:
        nodes.append(node)
        hog, calm = await api.add("hog", memory="10Mi"), await api.add("calm", memory="200Mi")
        taking = node.add(hog[1])
        node.add(calm[1]).load(1000, _CALM)
        with contextlib.ExitStack() as stack:
            agent = None
            if kubeconfig is not None:
                options = ("--kubeconfig", str(kubeconfig), "--cgroup", node.name)
                thresholds = {
                    "evictionHard": {"memory.available": f"{LEFT // MIB}Mi"},
                    "enforceNodeAllocatable": [],
                }
                agent = stack.enter_context(agent_process(folder, *options, thresholds=thresholds))
            node.pods[calm[1]].start()
            taking.load(rate, 2 * LIMIT // MIB)
            await asyncio.sleep(1.5)
            ramp = await _fill(api, node, taking.uid, rate, agent)
        for name, _ in (hog, calm):
            await api.remove(name)
        return ramp


async def _fill(
    api: NodeApi, node: NodeCgroup, hog: str, rate: int, agent: AgentProcess | None
) -> Ramp:
    crossing = Crossing(node)
    crossing.start()
    before = dict(api.gone)
    node.pods[hog].start()
    until = time.monotonic() + LIMIT / MIB / rate + 5
    while time.monotonic() < until and not node.pods[hog].killed and api.gone == before:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.2)
    crossing.end()
    at, new = crossing.at, api.gone.keys() - before.keys()
    kills = node.oom_kills
    if agent is None or at is None:
        return Ramp(None, None, "", kills)
    begun = [one["monotonic"] for one in agent.lines("round")]
    # The round that decided: the last before the delete was seen.
    deleted = min((api.gone[name] for name in new), default=None)
    rounds = [one for one in begun if deleted is None or one <= deleted]
    to_round = max(rounds[-1] - at, 0.0) if rounds and deleted is not None else None
    to_delete = None if deleted is None else deleted - at
    return Ramp(to_round, to_delete, min(new, default=""), kills)


def _told(rate: int, ramps: list[Ramp]) -> bool:
    to_round = sorted(one.to_round for one in ramps if one.to_round is not None)
    to_delete = sorted(one.to_delete for one in ramps if one.to_delete is not None)
    right = sum(one.victim.startswith("hog-") for one in ramps)
    kills = sum(one.oom_kills for one in ramps)
    if not to_round:
        print(f"{rate:5} MiB/s: nobody went, {kills} OOM kills")
        return False
    print(
        f"{rate:5} MiB/s: {len(ramps)} ramps, to the round p50 {_ms(to_round, 50)} "
        f"p99 {_ms(to_round, 99)} ms, to the delete p50 {_ms(to_delete, 50)} "
        f"p99 {_ms(to_delete, 99)} ms; right victim {right}, OOM kills {kills}"
    )
    return right == len(ramps) and kills == 0 and to_round[-1] < AIM


def _ms(seconds: list[float], percent: int) -> str:
    if len(seconds) < 2:
        return f"{seconds[0] * 1000:.1f}"
    return f"{statistics.quantiles(seconds, n=100, method='inclusive')[percent - 1] * 1000:.1f}"
