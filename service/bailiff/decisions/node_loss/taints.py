"""The taints that follow from a node's conditions.

Source: nodeConditionToTaintKeyStatusMap in
pkg/controller/nodelifecycle/node_lifecycle_controller.go; that controller puts them there with
NoSchedule, and those of Ready with NoExecute, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds.taint import NO_EXECUTE, NOT_READY, UNREACHABLE, Taint

if TYPE_CHECKING:
    from bailiff.kinds import Node

_NO_SCHEDULE = "NoSchedule"
_KEYS = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def following_taints(node: Node) -> tuple[Taint, ...]:
    """Those that the node lifecycle controller would have there, whether they are or not.

    Those that only keep pods off come first, in the order of the conditions; then those that evict.
    """
    keys = [
        _KEYS[one.type, one.status]
        for one in node.status.conditions
        if (one.type, one.status) in _KEYS
    ]
    cordoned = [_UNSCHEDULABLE] if node.spec.unschedulable else []
    repel = [Taint(key=key, effect=_NO_SCHEDULE) for key in dict.fromkeys(keys + cordoned)]
    evict = [Taint(key=key, effect=NO_EXECUTE) for key in keys if key in (NOT_READY, UNREACHABLE)]
    return (*repel, *dict.fromkeys(evict))
