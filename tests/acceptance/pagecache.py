"""Files are read over and over on a node that has enough memory: nobody is to go for page cache.

Five minutes for each of what may count as memory in use: a cgroup of 1 GiB that stands for a node,
a pod that reads 3 GiB of files, and one that holds 200 MiB. What is read is page cache of the
cgroup, all of which the kernel may drop; read twice lately it counts as in use for a kubelet.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from bailiff.cluster import connect
from tests.harness.agent_process import agent_process
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.node_api import NodeApi
from tests.harness.node_cgroup import MIB, NodeCgroup, node_cgroup

LIMIT, LEFT = 1024 * MIB, 300 * MIB
SECONDS = 300.0
HELD = 200
FILES, SIZE = 12, 256 * MIB
# Reads each file twice, which makes its pages active: part of the working set.
_READER = """
import sys
files = [open(name, "rb", buffering=0) for name in sys.argv[1:]]
piece = bytearray(1 << 20)
while True:
    for file in files:
        for _ in range(2):
            file.seek(0)
            while file.readinto(piece):
                pass
"""
# By name: options of the agent, and its file of extensions.
CHOICES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "default": ((), {}),
    "as kubelet": (("--active-page-cache",), {}),
    "RSS": ((), {"memoryInUse": "RSS"}),
}


async def run() -> bool:
    """Whether nobody went though memory could be reclaimed, but by the kubelet's own reckoning."""
    evicted = {}
    with tempfile.TemporaryDirectory(prefix="bailiff-cache-") as folder, KubeApiserver() as server:
        files = _files(Path(folder))
        async with await connect(server.kubeconfig) as cluster:
            nodes: list[NodeCgroup] = []
            api = NodeApi(cluster, lambda uid: nodes[-1].pods[uid].kill())
            await api.set_up()
            ending = asyncio.create_task(api.end_deleted())
            for name in CHOICES:
                place = Path(folder) / name.replace(" ", "-")
                place.mkdir()
                evicted[name] = await _read(api, nodes, place, files, server, name)
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
    return evicted["default"] == evicted["RSS"] == 0


def _reading(files: list[Path]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", _READER, *map(str, files)])


def _files(folder: Path) -> list[Path]:
    """Of which nothing is in memory: whoever reads a page first is charged for it."""
    files = [folder / f"file-{number}" for number in range(FILES)]
    for file in files:
        with file.open("wb") as out:
            for _ in range(SIZE // MIB):
                out.write(b"x" * MIB)
            out.flush()
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return files


async def _read(
    api: NodeApi,
    nodes: list[NodeCgroup],
    folder: Path,
    files: list[Path],
    server: KubeApiserver,
    name: str,
) -> int:
    more, extensions = CHOICES[name]
    told = folder / "extensions.yaml"
    told.write_text(yaml.safe_dump(extensions))
    with node_cgroup(folder, LIMIT) as node:
        nodes.append(node)
        reads, holds = await api.add("reads"), await api.add("holds", memory="200Mi")
        node.add(holds[1]).load(1000, HELD)
        reader = node.add(reads[1])
        options = (
            *("--kubeconfig", str(server.kubeconfig), "--cgroup", node.name),
            *("--pressure-extensions", str(told), *more),
        )
        thresholds = {
            "evictionHard": {"memory.available": f"{LEFT // MIB}Mi"},
            "enforceNodeAllocatable": [],
        }
        with agent_process(folder, *options, thresholds=thresholds) as agent:
            node.pods[holds[1]].start()
            with _reading(files) as work:
                for cgroup in reader.cgroups:
                    (cgroup / "cgroup.procs").write_text(str(work.pid))
                lowest, until = LIMIT, time.monotonic() + SECONDS
                while time.monotonic() < until:
                    await asyncio.sleep(1)
                    lowest = min(lowest, _available(agent.get("/metrics")))
                work.kill()
            gone = agent.lines("evicted")
            rounds = len(agent.lines("round"))
        kills = node.oom_kills
        for pod, _ in (reads, holds):
            await api.remove(pod)
    print(
        f"{name:12} {len(gone)} evictions, {kills} OOM kills, at least {lowest // MIB} MiB "
        f"available, {rounds} rounds in {SECONDS:.0f} s"
    )
    return len(gone)


def _available(metrics: str) -> int:
    name = 'bailiff_agent_available{eviction_signal="memory.available"} '
    found = [line for line in metrics.splitlines() if line.startswith(name)]
    return int(float(found[0].removeprefix(name))) if found else LIMIT
