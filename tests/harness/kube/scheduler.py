"""A real kube-scheduler at work on a real API server, and nodes that it puts pods on."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bailiff.cluster import PatchType
from tests.harness.api import NODES, name_of
from tests.harness.kube.programs import Program
from tests.harness.objects import condition, node_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from bailiff.cluster import Cluster
    from tests.harness.objects import Object

GUIDE = Path(__file__).parents[3] / "docs" / "scheduling" / "kube-scheduler.md"
MERGE = PatchType.MERGE
_ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}


def of_guide(program: str) -> Object:
    """The configuration in docs/scheduling/kube-scheduler.md that a test runs.

    Args:
        program: the test, by its path.
    """
    found = re.search(rf"{re.escape(program)} -->\n```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    configuration: Object = yaml.safe_load(found[1])
    return configuration


@contextlib.asynccontextmanager
async def kube_scheduler(
    kubeconfig: Path,
    configuration: Mapping[str, Any],
    folder: Path,
    executable: Path | None = None,
) -> AsyncIterator[Program]:
    """Started; it schedules when it has seen everything.

    Args:
        kubeconfig: of its account.
        configuration: a KubeSchedulerConfiguration, but for how it reaches the API server.
        folder: for its configuration and its log.
        executable: with plugins of one's own; None: the one of Kubernetes.
    """
    reaching = {
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 2000},
        "leaderElection": {"leaderElect": False},
    }
    path = folder / "scheduler.yaml"
    path.write_text(yaml.safe_dump({**configuration, **reaching}))
    arguments = [f"--config={path}", "--secure-port=0"]
    own = None if executable is None else str(executable)
    program = Program("kube-scheduler", arguments, folder, own)
    program.start()
    try:
        yield program
    finally:
        await asyncio.to_thread(program.stop)


def ready_node(name: str, *taints: Mapping[str, Any], **room: str) -> Object:
    """A node that a kubelet would have registered, with room for pods."""
    node = node_object(name, *taints)
    status = {"allocatable": _ROOM | room, "capacity": _ROOM | room}
    return node | {"status": status | {"conditions": [condition("Ready", reason="KubeletReady")]}}


async def register(cluster: Cluster, nodes: Iterable[Object], at_a_time: int = 20) -> None:
    """Create nodes, with the taints that they name and no others.

    Admission taints each new one as not ready (TaintNodesByCondition), which the controller that
    is not here would take back.
    """
    turns = asyncio.Semaphore(at_a_time)

    async def one(node: Object) -> None:
        async with turns:
            made = await cluster.create(NODES, node)
            spec = {"taints": None, **node["spec"]}
            await cluster.patch(NODES, name_of(made), "", {"spec": spec}, patch_type=MERGE)

    await asyncio.gather(*map(one, nodes))


async def unregister(cluster: Cluster, nodes: Iterable[Object]) -> None:
    """Take them away."""
    await asyncio.gather(*(cluster.delete(NODES, name_of(node), "") for node in nodes))
