"""Pods, nodes, taints and tolerations as the core reads them. Of devices: device_kinds.py."""

from __future__ import annotations

from typing import Any

from bailiff.kinds import Node, NodeSpec, ObjectMeta, Pod, PodSpec, PodStatus, Taint, Toleration


def no_execute(key: str = "maintenance", value: str = "", **fields: Any) -> Taint:
    """A taint that evicts."""
    return Taint(key=key, value=value, effect="NoExecute", **fields)


def tolerating(key: str = "maintenance", seconds: int | None = None) -> Toleration:
    """A toleration of it, for ever if no seconds are given."""
    return Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=seconds)


def node_of(name: str, *taints: Taint, **meta: Any) -> Node:
    """A node with these taints."""
    return Node(metadata=ObjectMeta(name=name, **meta), spec=NodeSpec(taints=taints))


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
