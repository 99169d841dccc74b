"""Pods, nodes, taints and tolerations as the core reads them. Of devices: device_kinds.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.kinds import (
    FieldsV1,
    ManagedFieldsEntry,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    OwnedField,
    OwnedSpec,
    Pod,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)

if TYPE_CHECKING:
    from datetime import datetime


def no_execute(key: str = "maintenance", value: str = "", **fields: Any) -> Taint:
    """A taint that evicts."""
    return Taint(key=key, value=value, effect="NoExecute", **fields)


def tolerating(key: str = "maintenance", seconds: int | None = None) -> Toleration:
    """A toleration of it, for ever if no seconds are given."""
    return Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=seconds)


def edited_at(time: datetime) -> tuple[ManagedFieldsEntry, ...]:
    """The managedFields of a node whose taints were last edited then, as the API server cuts it."""
    fields = FieldsV1(spec=OwnedSpec(taints=OwnedField()))
    return (ManagedFieldsEntry(time=time.replace(microsecond=0), fields_v1=fields),)


def node_of(name: str, *taints: Taint, **meta: Any) -> Node:
    """A node with these taints."""
    return Node(metadata=NodeMeta(name=name, **meta), spec=NodeSpec(taints=taints))


def pod_of(
    name: str,
    node: str = "",
    *tolerations: Toleration,
    phase: str = "Running",
    priority: int = 0,
    **meta: Any,
) -> Pod:
    """A pod of the namespace `default`, on a node if one is named; `meta` is its metadata."""
    return Pod(
        metadata=ObjectMeta(**{"name": name, "namespace": "default"} | meta),
        spec=PodSpec(node_name=node, tolerations=tolerations, priority=priority),
        status=PodStatus(phase=phase),
    )
