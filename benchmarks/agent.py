"""What an agent costs on a node where nothing happens: resident memory, CPU, system calls.

    python -m benchmarks.agent

On a real API server, with 110 pods that each have a cgroup, and, where Debian's containerd is
there, a container runtime. The yardsticks are what it may have: 40 MiB and 0.5 % of a core. It
takes root, and the programs of `make test-assets`.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bailiff.cluster import connect
from tests.harness.agent_process import AgentProcess, agent_process
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, NodeCgroup, node_cgroup
from tests.harness.node_needs import no_runtime
from tests.harness.node_runtime import node_runtime

PODS = 110
SECONDS = 120.0
BUDGET_KIB = 40 * 1024
BUDGET_CORE = 0.005


def main() -> int:
    """0: within its budget."""
    with (
        tempfile.TemporaryDirectory(prefix="bailiff-idle-") as folder,
        KubeApiserver() as server,
        node_cgroup(Path(folder), 1024 * MIB) as node,
        _runtime() as options,
    ):
        asyncio.run(_pods(server.kubeconfig, node))
        own = ("--kubeconfig", str(server.kubeconfig), "--cgroup", node.name, *options)
        state = ("--state-file", str(Path(folder) / "state"))
        thresholds = {"evictionHard": {"memory.available": "100Mi"}}
        with agent_process(Path(folder), *own, *state, thresholds=thresholds) as agent:
            return _measure(agent)


@contextlib.contextmanager
def _runtime() -> Iterator[tuple[str, ...]]:
    why_not = no_runtime()
    if why_not:
        print(f"without a container runtime: {why_not}")
        yield ()
        return
    with node_runtime() as runtime:
        yield "--runtime", runtime.socket


async def _pods(kubeconfig: Path, node: NodeCgroup) -> None:
    async with await connect(kubeconfig) as cluster:
        api = NodeApi(cluster, lambda _: None)
        await api.set_up()
        for number in range(PODS):
            _, uid = await api.add(f"pod-{number}", memory="10Mi")
            node.add(uid)


def _measure(agent: AgentProcess) -> int:
    # What starting takes is over by then: lists, the first look at images.
    time.sleep(15)
    before = agent.cpu_seconds
    time.sleep(SECONDS)
    used = (agent.cpu_seconds - before) / SECONDS
    resident = agent.resident
    print(f"resident: {resident / 1024:.1f} MiB, {resident / BUDGET_KIB:.2f} of what it may have")
    print(f"CPU: {used:.2%} of a core, {used / BUDGET_CORE:.2f} of what it may have")
    _count_calls(agent)
    return int(resident > BUDGET_KIB or used > BUDGET_CORE)


def _count_calls(agent: AgentProcess) -> None:
    """How often it looks by itself: its waits in 20 s, and those that ended by time alone."""
    strace = shutil.which("strace")
    if strace is None:
        return
    command = [strace, "-f", "-r", "-e", "trace=epoll_wait,poll,select,nanosleep", "-p"]
    with tempfile.NamedTemporaryFile("r") as out:
        tracing = subprocess.Popen([*command, str(agent.pid), "-o", out.name])
        time.sleep(20)
        tracing.terminate()
        tracing.wait()
        lines = out.read().splitlines()
    timed_out = [line for line in lines if "= 0" in line and ", 0)" not in line]
    print(f"waits in 20 s: {len(lines)}, of which {len(timed_out)} ended by time alone")


if __name__ == "__main__":
    sys.exit(main())
