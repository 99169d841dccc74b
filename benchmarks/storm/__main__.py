"""`python -m benchmarks.storm`: 5,000 pods on 100 nodes, all nodes tainted NoExecute at once.

kube-controller-manager and Bailiff's worker take turns, each on a fresh kube-apiserver and etcd
with the same pods, and each is quiet before the taint. Pods have their usual grace period and no
kubelet, so an accepted delete leaves them terminating: what every real eviction begins with, one
write for both sides; what a kubelet does after that is not the evictor's. A watch of our own sees
each pod go. About two minutes; exits 3 where KUBEBUILDER_ASSETS is not set.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import uvloop

from bailiff.cluster import Cluster, connect
from benchmarks.storm.candidates import OURS, UPSTREAM, candidate
from benchmarks.storm.fleet import Witness, fill, taint_all
from benchmarks.storm.measuring import Call, cpu_seconds, peak_rss_mb, requests_so_far
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, Program, assets

# A program is quiet when it used less than this share of a core for so many seconds on end.
_QUIET_SHARE = 0.05
_QUIET_SECONDS = 3
_PATIENCE = 120.0
_NO_ASSETS = 3


@dataclass
class Turn:
    """What one candidate did."""

    evicted: int
    wanted: int
    first: float
    last: float
    cpu: float
    cpu_after: float
    api_cpu: float
    peak_mb: float
    start_mb: float
    calls: Counter[Call] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        return self.evicted / self.last if self.last else 0.0


async def quiet(*programs: Program) -> None:
    """Wait until all of them do nothing."""
    calm, before = 0, _cpu(programs)
    async with asyncio.timeout(_PATIENCE):
        while calm < _QUIET_SECONDS:
            await asyncio.sleep(1.0)
            before, last = _cpu(programs), before
            calm = calm + 1 if before - last < _QUIET_SHARE * len(programs) else 0


def _cpu(programs: tuple[Program, ...]) -> float:
    return sum(cpu_seconds(program.pid) for program in programs)


async def storm(server: KubeApiserver, program: Program, pods: int, nodes: int) -> Turn:
    async with await connect(server.kubeconfig) as cluster:
        await fill(cluster, nodes, pods)
        witness = Witness(cluster, pods)
        watching = asyncio.create_task(witness.run())
        try:
            program.start()
            await quiet(program, server.apiserver)
            return await _measured(cluster, server, program, witness, pods, nodes)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def _measured(
    cluster: Cluster,
    server: KubeApiserver,
    program: Program,
    witness: Witness,
    pods: int,
    nodes: int,
) -> Turn:
    assert witness.synced
    assert not witness.gone
    calls = await requests_so_far(cluster)
    start_mb = peak_rss_mb(program.pid)
    cpu, api_cpu = cpu_seconds(program.pid), cpu_seconds(server.apiserver.pid)
    begun = time.monotonic()
    await taint_all(cluster, nodes)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await witness.all_gone.wait()
    used = cpu_seconds(program.pid) - cpu
    api_used = cpu_seconds(server.apiserver.pid) - api_cpu
    # Events may still be on their way.
    await quiet(program)
    gone = sorted(witness.gone.values())
    return Turn(
        evicted=len(gone),
        wanted=pods,
        first=gone[0] - begun if gone else 0.0,
        last=gone[-1] - begun if gone else 0.0,
        cpu=used,
        cpu_after=cpu_seconds(program.pid) - cpu - used,
        api_cpu=api_used,
        peak_mb=peak_rss_mb(program.pid),
        start_mb=start_mb,
        calls=await requests_so_far(cluster) - calls,
    )


def take_turn(name: str, pods: int, nodes: int, options: list[str]) -> Turn:
    with KubeApiserver() as server:
        program = candidate(name, server, options)
        try:
            return uvloop.run(storm(server, program, pods, nodes))
        finally:
            program.stop()


def show(name: str, turn: Turn) -> None:
    print(
        f"{name:24} {turn.evicted:,} of {turn.wanted:,} evicted, {turn.per_second:6.0f}/s,"
        f" first after {turn.first:5.2f} s, last after {turn.last:6.2f} s;\n"
        f"{'':24} CPU {turn.cpu:5.1f} s and {turn.cpu_after:.1f} s after the last,"
        f" API server {turn.api_cpu:5.1f} s; peak memory {turn.peak_mb:4.0f} MB,"
        f" {turn.start_mb:.0f} MB of it before the taint"
    )
    calls = ", ".join(f"{count:,} {call}" for call, count in turn.calls.most_common())
    print(f"{'':24} requests: {calls}", flush=True)


def compare(theirs: Turn, ours: Turn) -> None:
    rows = {
        "evictions per second": ours.per_second / theirs.per_second,
        "first eviction": ours.first / theirs.first,
        "last eviction": ours.last / theirs.last,
        "CPU": ours.cpu / theirs.cpu,
        "API server's CPU": ours.api_cpu / theirs.api_cpu,
        "peak memory": ours.peak_mb / theirs.peak_mb,
        "requests": ours.calls.total() / theirs.calls.total(),
    }
    print("bailiff / kube-controller-manager")
    for what, ratio in rows.items():
        print(f"  {what:22} {ratio:6.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storm")
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--only", choices=(UPSTREAM, OURS))
    parser.add_argument("--worker", nargs=argparse.REMAINDER, default=[], help="flags for Bailiff")
    given = parser.parse_args()
    if assets() is None:
        print(WHY_NOT)
        return _NO_ASSETS
    print(f"{given.pods:,} pods on {given.nodes} nodes, all nodes tainted at once", flush=True)
    turns: dict[str, Turn] = {}
    for name in [given.only] if given.only else [UPSTREAM, OURS]:
        turns[name] = take_turn(name, given.pods, given.nodes, given.worker)
        show(name, turns[name])
    if len(turns) > 1:
        compare(turns[UPSTREAM], turns[OURS])
    return int(any(turn.evicted < turn.wanted for turn in turns.values()))


if __name__ == "__main__":
    sys.exit(main())
