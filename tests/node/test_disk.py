"""A disk that is full: garbage goes first, and where there is none the right pod."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from bailiff.cluster import connect
from tests.harness.agent_process import AgentProcess, agent_process
from tests.harness.held import held
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.loop_disk import loop_disk
from tests.harness.node_api import NodeApi
from tests.harness.node_needs import needs, no_runtime
from tests.harness.node_runtime import NodeRuntime, node_runtime

pytestmark = needs(no_runtime() or ("" if assets() else WHY_NOT))
MIB = 2**20
DISK = 256 * MIB
THRESHOLDS = {
    "evictionHard": {"imagefs.available": "30%", "nodefs.available": "30%"},
    "enforceNodeAllocatable": [],
}


@pytest.fixture(scope="module")
def server():
    with KubeApiserver() as started:
        yield started


@pytest.fixture
def disk(tmp_path):
    with loop_disk(tmp_path, DISK) as place:
        yield place


@pytest.fixture
def runtime(disk):
    """Its images lie on the disk that gets full."""
    with node_runtime(disk / "containerd") as made:
        yield made


def filled(disk: Path, name: str, percent: int) -> Path:
    """A file that leaves so many percent of the disk."""
    found = os.statvfs(disk)
    left = found.f_bavail * found.f_frsize - found.f_blocks * found.f_frsize * percent // 100
    path = disk / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(MIB) * max(left // MIB, 0))
    return path


def agent_on(server, disk: Path, runtime: NodeRuntime, folder: Path, *more: str):
    options = (
        *("--kubeconfig", str(server.kubeconfig), "--runtime", runtime.socket),
        *("--kubelet-dir", str(disk / "kubelet"), "--image-dir", str(disk)),
        *("--pod-logs-dir", str(disk / "logs"), "--pressure-interval", "1", *more),
    )
    return agent_process(folder, *options, thresholds=THRESHOLDS)


async def until(true, seconds: float = 30.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)


def has_round(agent: AgentProcess, reason: str) -> bool:
    return bool(agent.get("/v1/agent").get("reason") == reason)


async def test_garbage_frees_the_disk_and_no_pod_goes(server, disk, runtime, tmp_path):
    for number in range(3):
        runtime.add_image(f"docker.io/local/old-{number}:1", 12 * MIB)
    (disk / "kubelet").mkdir()
    state = tmp_path / "state"
    # Of three minutes ago, so that the images are old enough.
    state.write_text(await _seen_long_ago(runtime))
    async with await connect(server.kubeconfig) as cluster:
        api = NodeApi(cluster, lambda _: None)
        await api.set_up()
        await api.add("pod")
        with agent_on(server, disk, runtime, tmp_path, "--state-file", str(state)) as agent:
            await until(lambda: has_round(agent, "NoPressure"))
            filled(disk, "full", 20)
            await until(lambda: len(agent.lines("freed")) >= 3)
            await until(lambda: has_round(agent, "NoPressure"))
            assert agent.lines("evicted") == []
        for pod in await api.pods():
            await api.remove(pod["metadata"]["name"])


async def test_without_garbage_the_pod_that_takes_most_goes(server, disk, runtime, tmp_path):
    async with await connect(server.kubeconfig) as cluster:
        api = NodeApi(cluster, lambda _: None)
        small, large = await api.add("small"), await api.add("large")
        for (name, uid), size in ((small, 5), (large, 60)):
            await (await runtime.add_pod(name, uid)).add_container("main", runtime.image)
            logs = disk / "logs" / f"default_{name}_{uid}" / "main"
            logs.mkdir(parents=True)
            (logs / "0.log").write_bytes(os.urandom(size * MIB))
        (disk / "kubelet").mkdir()
        with agent_on(server, disk, runtime, tmp_path) as agent:
            await until(lambda: has_round(agent, "NoPressure"))
            filled(disk, "full", 25)
            first = await asyncio.to_thread(agent.wait_for, "evicted")
            assert first["pod"] == f"default/{large[0]}"
        for pod in await api.pods():
            await api.remove(pod["metadata"]["name"])


async def test_while_the_runtime_hangs_nobody_goes_for_the_disk(server, disk, runtime, tmp_path):
    async with await connect(server.kubeconfig) as cluster:
        api = NodeApi(cluster, lambda _: None)
        name, _ = await api.add("pod")
        (disk / "kubelet").mkdir()
        with agent_on(server, disk, runtime, tmp_path) as agent:
            await until(lambda: has_round(agent, "NoPressure"))
            with held(runtime.daemon.pid):
                filled(disk, "full", 20)
                await until(
                    lambda: "no answer within" in str(agent.get("/v1/agent")["complaints"]), 60
                )
                assert agent.lines("evicted") == []
            evicted = await asyncio.to_thread(agent.wait_for, "evicted")
            assert evicted["pod"] == f"default/{name}"


async def _seen_long_ago(runtime: NodeRuntime) -> str:
    images = [[one.id, "2020-01-01T00:00:00Z"] for one in await runtime.client.images()]
    return json.dumps({"images": {"images": images}})
