"""The Kubernetes API under test, whichever it is, and quick ways to put things into it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bailiff.cluster import (
    Cluster,
    ClusterSettings,
    NotFoundError,
    PatchType,
    Resource,
    connect,
)
from tests.harness.objects import Object, node_object, object_of, pod_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

# Whole objects, to see what our kinds leave out.
PODS: Resource[Object] = Resource("", "v1", "pods", dict)
NODES: Resource[Object] = Resource("", "v1", "nodes", dict, namespaced=False)
# A UID that no object has.
STRANGER = "00000000-0000-0000-0000-000000000000"

NAMESPACES: Resource[Object] = Resource("", "v1", "namespaces", dict, namespaced=False)
BUDGETS: Resource[Object] = Resource("policy", "v1", "poddisruptionbudgets", dict)


@dataclass(frozen=True)
class Api:
    """One API server.

    Attributes:
        name: "demo" or "kube-apiserver".
        kubeconfig: a file for its administrator.
        worker_kubeconfig: one for the worker: with the chart's rights and under its admission
            policies, where the server knows of such.
        port: where it listens on 127.0.0.1.
        forget_history: makes it forget all past versions and break all watches, as a
            compaction and a restart do. Objects stay.
    """

    name: str
    kubeconfig: Path
    worker_kubeconfig: Path
    port: int
    forget_history: Callable[[], Awaitable[None]]

    async def connect(self, settings: ClusterSettings | None = None) -> Cluster:
        """A client of the code under test."""
        return await connect(self.kubeconfig, settings=settings)

    def kubeconfig_for_port(self, port: int, folder: Path) -> Path:
        """A kubeconfig that reaches the same server by way of another port."""
        path = folder / f"{port}.kubeconfig"
        path.write_text(self.kubeconfig.read_text().replace(f":{self.port}", f":{port}"))
        return path


class Bench:
    """A namespace of a test's own, and what it puts there. Names are unique cluster-wide."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self._nodes: list[str] = []

    @classmethod
    async def set_up(cls, cluster: Cluster) -> Bench:
        """Make the namespace."""
        namespace = f"test-{secrets.token_hex(4)}"
        await cluster.create(NAMESPACES, object_of("Namespace", namespace))
        return cls(cluster, namespace)

    async def clear_away(self) -> None:
        """Leave nothing that the workers of later tests would act on: the server is shared."""
        pods = await self.cluster.list(PODS, namespace=self.namespace)
        await asyncio.gather(*(self._drop(NODES, node, "") for node in self._nodes))
        names = [name_of(pod) for pod in pods.items]
        await asyncio.gather(*(self._drop(PODS, name, self.namespace) for name in names))

    async def _drop(self, resource: Resource[Object], name: str, namespace: str) -> None:
        with contextlib.suppress(NotFoundError):
            await self.cluster.delete(resource, name, namespace, grace_period_seconds=0)

    async def node(self, *taints: Mapping[str, Any]) -> str:
        """A node; its name."""
        name = f"node-{secrets.token_hex(4)}"
        await self.cluster.create(NODES, node_object(name, *taints))
        self._nodes.append(name)
        return name

    async def bare_node(self, **metadata: object) -> str:
        """A node of which nothing can be owned, as some tools for fake nodes make it; its name.

        Args:
            metadata: this of it can be owned, besides.
        """
        name = f"node-{secrets.token_hex(4)}"
        body = object_of("Node", name)
        await self.cluster.create(NODES, body | {"metadata": body["metadata"] | metadata})
        self._nodes.append(name)
        return name

    async def taint(self, node: str, *taints: Mapping[str, Any]) -> Object:
        """Replace the taints of a node."""
        body = {"spec": {"taints": list(taints)}}
        return await self.cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)

    async def pod(
        self,
        name: str = "",
        *,
        node: str = "",
        tolerations: Sequence[Mapping[str, Any]] = (),
        labels: Mapping[str, str] | None = None,
        **metadata: object,
    ) -> Object:
        """A pod, bound from birth if a node is named."""
        spec: Object = {"nodeName": node} if node else {}
        if tolerations:
            spec["tolerations"] = list(tolerations)
        body = pod_object(name or f"pod-{secrets.token_hex(4)}", **spec)
        body["metadata"] |= {"labels": dict(labels or {})} | metadata
        return await self.cluster.create(PODS, body, self.namespace)

    async def finished_pod(self, phase: str = "Succeeded", *, node: str = "") -> Object:
        """A pod that has run to its end."""
        pod = await self.pod(node=node)
        return await self.set_status(pod, phase=phase)

    async def set_status(self, pod: Object, **status: object) -> Object:
        """Write into the status of a pod, as a kubelet does."""
        return await self.cluster.patch(
            PODS, name_of(pod), self.namespace, {"status": status}, subresource="status"
        )

    async def get(self, name: str) -> Object:
        """A pod as it is now."""
        return await self.cluster.get(PODS, name, self.namespace)

    async def remove(self, name: str) -> None:
        """Delete a pod at once."""
        await self.cluster.delete(PODS, name, self.namespace, grace_period_seconds=0)


def name_of(obj: Object) -> str:
    """metadata.name."""
    name: str = obj["metadata"]["name"]
    return name


def uid_of(obj: Object) -> str:
    """metadata.uid."""
    uid: str = obj["metadata"]["uid"]
    return uid


def version_of(obj: Object) -> str:
    """metadata.resourceVersion."""
    version: str = obj["metadata"]["resourceVersion"]
    return version


async def forget_by_restart(compact: Callable[[], int], restart: Callable[[], None]) -> None:
    """Compact, and restart so that the watch cache forgets too; both block, so in a thread."""
    await asyncio.to_thread(compact)
    await asyncio.to_thread(restart)
