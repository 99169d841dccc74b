"""Nodes (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import ObjectMeta, Value
from bailiff.kinds.taint import Taint

# k8s.io/api/core/v1/well_known_labels.go.
LABEL_ZONE = "topology.kubernetes.io/zone"


class NodeSpec(Value, frozen=True):
    """What a node is meant to be.

    Attributes:
        taints: the marks that repel pods.
    """

    taints: tuple[Taint, ...] = ()


class Node(Value, frozen=True):
    """A node (core/v1 Node); hand over the whole object, what is not needed is ignored.

    Attributes:
        metadata: its identity.
        spec: its taints.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
