"""A node that is tainted, its pods, and the blast radius of that."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from bailiff.decisions.policies import BlastRadius
from bailiff.kinds import Annotations, Node, Pod
from tests.harness.kinds import no_execute, node_of, pod_of

OLD, NEW = node_of("n"), node_of("n", no_execute())
RADIUS = BlastRadius(max_pods=2)
# How warnings of these end.
OF_NODE = " (bailiff: node n)"
OF_TAINT = " (bailiff: node n, maintenance:NoExecute)"


def pods(number: int, node: str = "n", **meta: Any) -> list[Pod]:
    """So many on a node, labelled app=web."""
    return [pod_of(f"{node}-{one}", node, labels={"app": "web"}, **meta) for one in range(number)]


def acknowledging(node: Node, causes: str) -> Node:
    """The same with the annotation that lists them."""
    annotations = Annotations(acknowledged_taints=causes)
    return replace(node, metadata=replace(node.metadata, annotations=annotations))
