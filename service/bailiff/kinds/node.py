"""Nodes (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import ObjectMeta, Value
from bailiff.kinds.taint import Taint


class NodeSpec(Value, frozen=True):
    """A node's taints."""

    taints: tuple[Taint, ...] = ()


class Node(Value, frozen=True):
    """A node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
