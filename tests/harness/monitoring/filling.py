"""An agent whose node, a cgroup of this machine, runs out of memory: the kernel tells it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from bailiff.cluster import connect
from tests.harness.agent_process import agent_process
from tests.harness.api import PODS, uid_of
from tests.harness.monitoring.prometheus import Target
from tests.harness.node_cgroup import MIB, node_cgroup

if TYPE_CHECKING:
    import contextlib

    from tests.harness.node_cgroup import TakingPod
    from tests.harness.transcripts import Up

_NODE = "node-d"
# Crossed by a pod that takes 90 of 128 MiB.
_THRESHOLDS = {"evictionHard": {"memory.available": "64Mi"}, "enforceNodeAllocatable": []}


def agent_of_a_filling_node(
    run: contextlib.ExitStack, up: Up, folder: Path, job: str
) -> tuple[Target, TakingPod]:
    """The agent, and the pod that fills the node once it is started."""
    own = folder / "filling"
    own.mkdir()
    node = run.enter_context(node_cgroup(own, 128 * MIB))
    pod = node.add(asyncio.run(_pod_of_the_node(Path(up.kubeconfig))))
    pod.load(20, 90)
    options = ("--kubeconfig", up.kubeconfig, "--shadow", *node.options)
    agent = agent_process(own, *options, node=_NODE, thresholds=_THRESHOLDS)
    port = run.enter_context(agent).url.rpartition(":")[2]
    return Target(job=job, pod="agent-filling", port=int(port)), pod


async def _pod_of_the_node(kubeconfig: Path) -> str:
    """The UID of one that is there: a cgroup counts by that of its pod."""
    async with await connect(kubeconfig) as cluster:
        return next(
            uid_of(pod)
            for pod in (await cluster.list(PODS)).items
            if pod["spec"].get("nodeName") == _NODE
        )
