"""What a face that explains live objects needs to read, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bailiff.cluster.resource import NODES, PODS

if TYPE_CHECKING:
    from bailiff.cluster.client import Cluster
    from bailiff.kinds import Node, Pod


class ClusterReader(Protocol):
    """A port that can only read. Every method raises ClusterError."""

    async def get_pod(self, namespace: str, name: str) -> Pod:
        """One pod; NotFoundError if there is none of that name."""
        ...

    async def get_node(self, name: str) -> Node:
        """One node; NotFoundError if there is none of that name."""
        ...

    async def pods_on_node(self, name: str) -> tuple[Pod, ...]:
        """All pods bound to a node, finished ones too; empty if there is no such node."""
        ...


class LiveReader:
    """A ClusterReader that asks the API server every time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def get_pod(self, namespace: str, name: str) -> Pod:
        """See ClusterReader."""
        return await self._cluster.get(PODS, name, namespace)

    async def get_node(self, name: str) -> Node:
        """See ClusterReader."""
        return await self._cluster.get(NODES, name)

    async def pods_on_node(self, name: str) -> tuple[Pod, ...]:
        """See ClusterReader."""
        # A selector's own syntax ends a value at these (apimachinery pkg/fields).
        value = name.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
        found = await self._cluster.list(PODS, field_selector=f"spec.nodeName={value}")
        return found.items
