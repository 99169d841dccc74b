"""Conditions of a node as server-side apply takes them (core/v1 NodeCondition)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.kinds import Node
    from bailiff.kinds.node_status import NodeCondition


def status_body(node: Node, conditions: Sequence[NodeCondition], now: datetime) -> dict[str, Any]:
    """These conditions into the status of the node of this UID; a wrong one is a conflict."""
    before = {one.type: one for one in node.status.conditions}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.metadata.name, "uid": node.metadata.uid},
        "status": {
            "conditions": [_condition(one, before.get(one.type), now) for one in conditions]
        },
    }


def _condition(
    condition: NodeCondition, before: NodeCondition | None, now: datetime
) -> dict[str, str]:
    same = before is not None and before.status == condition.status
    since = before.last_transition_time if same and before is not None else None
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastHeartbeatTime": describe_time(now),
        "lastTransitionTime": describe_time(since or now),
    }
