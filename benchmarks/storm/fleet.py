"""The cluster of one turn: nodes and pods, the taint that ends it all, and who saw them go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, Changed, Cluster, Deleted, ListWatch, PatchType, Resource

Object = dict[str, Any]

NAMESPACES: Resource[Object] = Resource("", "v1", "namespaces", dict, namespaced=False)
NODES: Resource[Object] = Resource("", "v1", "nodes", dict, namespaced=False)
RAW_PODS: Resource[Object] = Resource("", "v1", "pods", dict)
NAMESPACE = "storm"
TAINT = {"key": "example.com/storm", "effect": "NoExecute"}
_AT_A_TIME = 24


async def fill(cluster: Cluster, nodes: int, pods: int) -> None:
    """Make the nodes, then the pods, spread evenly and bound from birth."""
    await cluster.create(NAMESPACES, _object("Namespace", NAMESPACE))
    await _all(lambda number: cluster.create(NODES, _node(number)), range(nodes))
    await _all(lambda n: cluster.create(RAW_PODS, _pod(n, n % nodes), NAMESPACE), range(pods))


async def taint_all(cluster: Cluster, nodes: int) -> None:
    """Taint every node, as `kubectl taint` does: without timeAdded."""
    body = {"spec": {"taints": [TAINT]}}

    async def taint(number: int) -> None:
        await cluster.patch(NODES, f"node-{number}", "", body, patch_type=PatchType.MERGE)

    await _all(taint, range(nodes))


class Witness:
    """A watch of its own: the monotonic instant at which each pod was first seen to go, by UID."""

    def __init__(self, cluster: Cluster, wanted: int) -> None:
        self.gone: dict[str, float] = {}
        self.all_gone = asyncio.Event()
        self._wanted = wanted
        self._watch = ListWatch(cluster, PODS, SystemClock())

    @property
    def synced(self) -> bool:
        return self._watch.health.synced

    async def run(self) -> None:
        async with aclosing(self._watch.events()) as events:
            async for event in events:
                match event:
                    case Changed(object=pod) if pod.is_terminating:
                        self._saw(pod.metadata.uid)
                    case Deleted(object=pod):
                        self._saw(pod.metadata.uid)

    def _saw(self, uid: str) -> None:
        self.gone.setdefault(uid, time.monotonic())
        if len(self.gone) >= self._wanted:
            self.all_gone.set()


async def _all(make: Callable[[int], Coroutine[Any, Any, Any]], numbers: Iterable[int]) -> None:
    left = iter(numbers)

    async def some() -> None:
        for number in left:
            await make(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(some())


def _object(kind: str, name: str, **parts: object) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | parts


def _node(number: int) -> Object:
    # Ready since now, so that node-lifecycle-controller has nothing to say about it.
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    return _object("Node", f"node-{number}", status={"conditions": [ready]})


def _pod(number: int, node: int) -> Object:
    pod = _object("Pod", f"web-{number}")
    pod["metadata"]["labels"] = {"app": "web", "pod-template-hash": "6d4b75cb6d"}
    pod["spec"] = {
        "nodeName": f"node-{node}",
        "containers": [
            {
                "name": "main",
                "image": "registry.example/web:1.27",
                "ports": [{"containerPort": 8080}],
                "env": [{"name": f"SETTING_{i}", "value": str(i)} for i in range(6)],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
            }
        ],
    }
    return pod
