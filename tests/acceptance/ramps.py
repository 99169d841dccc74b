"""60 processes fill a cgroup that stands for a node, at 50, 200 and 1,000 MiB a second.

Measured: from the moment at which less is available than the threshold to the beginning of the
round, and to the delete of a pod; which pod; and how often the kernel's OOM killer came first, with
the agent and without.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bailiff.cluster import connect
from tests.harness.agent_process import AgentProcess, agent_process
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, NodeCgroup, TakingPod, node_cgroup

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

AIM = 0.2


class Trial(NamedTuple):
    """What is tried.

    Attributes:
        limit: bytes of memory that the node has.
        left: of them; an agent is to evict where less is available.
        calm: MiB that the pod holds that is not to go.
        rates: MiB a second.
        times: ramps at each rate.
        options: of the agent, besides those that it needs.
        pause: each ramp begins up to so many seconds later, at random: rounds are due by time, too.
        agent_is_pod: the agent is in a pod of the node, as of a DaemonSet.
        make_node: by folder and limit.
    """

    limit: int = 1024 * MIB
    left: int = 300 * MIB
    calm: int = 100
    rates: tuple[int, ...] = (50, 200, 1000)
    times: int = 20
    options: tuple[str, ...] = ()
    pause: float = 0.0
    agent_is_pod: bool = False
    make_node: Callable[[Path, int], contextlib.AbstractContextManager[NodeCgroup]] = node_cgroup


class Ramp(NamedTuple):
    """What became of one; seconds, None: it did not come to that."""

    to_round: float | None
    to_delete: float | None
    victim: str
    oom_kills: int


class Stage(NamedTuple):
    """Where ramps run.

    Attributes:
        api: the API server with the pods.
        kubeconfig: of the API server.
        nodes: all that there have been; the last is the present one.
        folder: for files.
    """

    api: NodeApi
    kubeconfig: Path
    nodes: list[NodeCgroup]
    folder: Path


class Crossing(threading.Thread):
    """Looks every half millisecond whether pods use more than so many bytes.

    Attributes:
        at: when it was first so, by time.monotonic; None: it never was.
    """

    def __init__(self, node: NodeCgroup, most: int) -> None:
        super().__init__(daemon=True)
        self._most = most
        self._files = [node.memory / name for name in node.files]
        self.at: float | None = None
        self._over = False

    def run(self) -> None:
        usage, stat = (os.open(one, os.O_RDONLY) for one in self._files)
        while not self._over and self.at is None:
            used = int(os.pread(usage, 64, 0))
            now = time.monotonic()
            told = os.pread(stat, 8192, 0)
            if used - _inactive(told) > self._most:
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
    async with stage() as at:
        return await try_it(at, Trial())


@contextlib.asynccontextmanager
async def stage(*flags: str) -> AsyncIterator[Stage]:
    """An API server with these flags, and who ends the pods that are deleted there."""
    folder = tempfile.TemporaryDirectory(prefix="bailiff-ramps-")
    with folder as path, KubeApiserver(flags) as server:
        async with await connect(server.kubeconfig) as cluster:
            nodes: list[NodeCgroup] = []

            def end(uid: str) -> None:
                # The watch may tell of one of a ramp before, which has ended with its node.
                if uid in nodes[-1].pods:
                    nodes[-1].pods[uid].kill()

            api = NodeApi(cluster, end)
            await api.set_up()
            # Nobody would go if that failed: so let it be heard.
            async with asyncio.TaskGroup() as group:
                ending = group.create_task(api.end_deleted())
                yield Stage(api, server.kubeconfig, nodes, Path(path))
                ending.cancel()


async def without_agent(at: Stage, trial: Trial) -> None:
    """What the kernel does by itself, at the highest rate."""
    found = [await _ramp(at, trial, trial.rates[-1], with_agent=False) for _ in range(3)]
    print(f"without an agent: {sum(one.oom_kills for one in found)} OOM kills in 3", flush=True)


async def try_it(at: Stage, trial: Trial) -> bool:
    """Whether all is as it is to be, at every rate."""
    await without_agent(at, trial)
    kept = [await try_rate(at, trial, rate) for rate in trial.rates]
    return all(kept)


async def try_rate(at: Stage, trial: Trial, rate: int) -> bool:
    """Whether all is as it is to be, at this rate."""
    return _told(rate, [await _ramp(at, trial, rate) for _ in range(trial.times)])


async def _ramp(at: Stage, trial: Trial, rate: int, *, with_agent: bool = True) -> Ramp:
    with trial.make_node(at.folder, trial.limit) as node:
        at.nodes.append(node)
        hog, calm = await at.api.add("hog", memory="10Mi"), await at.api.add("calm", memory="200Mi")
        node.add(hog[1]).load(rate, 2 * trial.limit // MIB)
        node.add(calm[1]).load(1000, trial.calm)
        left = node.room - (trial.limit - trial.left)
        with _agent(at, trial, node, left) if with_agent else contextlib.nullcontext() as agent:
            node.pods[calm[1]].start()
            await asyncio.sleep(1.5 + trial.pause * random.random())
            ramp = await _fill(at.api, node, node.pods[hog[1]], rate, agent, node.room - left)
        for name, _ in (hog, calm):
            await at.api.remove(name)
        return ramp


@contextlib.contextmanager
def _agent(at: Stage, trial: Trial, node: NodeCgroup, left: int) -> Iterator[AgentProcess]:
    options = ("--kubeconfig", str(at.kubeconfig), *node.options, *trial.options)
    thresholds = {
        "evictionHard": {"memory.available": f"{left // MIB}Mi"},
        "enforceNodeAllocatable": [],
    }
    with agent_process(at.folder, *options, thresholds=thresholds) as agent:
        if trial.agent_is_pod:
            node.add("agent").take_in(agent.pid)
        yield agent


async def _fill(
    api: NodeApi,
    node: NodeCgroup,
    hog: TakingPod,
    rate: int,
    agent: AgentProcess | None,
    most: int,
) -> Ramp:
    crossing = Crossing(node, most)
    crossing.start()
    before = dict(api.gone)
    hog.start()
    until = time.monotonic() + node.limit / MIB / rate + 5
    while time.monotonic() < until and not hog.killed and api.gone == before:
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
