"""Questions about the taints of nodes to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# All examples name their instant, so that anybody who runs one gets the answer that is shown.
NOW = "2026-05-04T12:00:00Z"
ADDED = "2026-05-04T11:59:00Z"


@dataclass(frozen=True, kw_only=True)
class Example:
    """A body.

    Attributes:
        summary: what it shows.
        body: the JSON value.
    """

    summary: str
    body: Mapping[str, Any]


def pod(name: str, *tolerations: Mapping[str, Any], phase: str = "Running") -> dict[str, Any]:
    """A pod on `node-1` with these tolerations."""
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"5f1b7a52-0000-4000-8000-{sum(name.encode()):012x}",
            "creationTimestamp": "2026-05-04T08:00:00Z",
        },
        "spec": {"nodeName": "node-1", "tolerations": list(tolerations)},
        "status": {"phase": phase},
    }


def node(*taints: Mapping[str, Any]) -> dict[str, Any]:
    """`node-1` with these taints."""
    return {"metadata": {"name": "node-1"}, "spec": {"taints": list(taints)}}


def _tolerates(key: str, seconds: int | None = None) -> dict[str, Any]:
    toleration: dict[str, Any] = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        toleration["tolerationSeconds"] = seconds
    return toleration


_UNREACHABLE = "node.kubernetes.io/unreachable"
_LOST = {"key": _UNREACHABLE, "effect": "NoExecute", "timeAdded": ADDED}
_MAINTENANCE = {"key": "maintenance", "value": "disk", "effect": "NoExecute"}

ONE_POD: Mapping[str, Example] = {
    "timed": Example(
        summary="The node was lost a minute ago, the pod waits five: EVICT_AT",
        body={
            "pod": pod("web-0", _tolerates(_UNREACHABLE, 300)),
            "node": node(_LOST),
            "now": NOW,
        },
    ),
    "untolerated": Example(
        summary="Nothing tolerates the taint: EVICT_NOW",
        body={
            "pod": pod("web-0", _tolerates(_UNREACHABLE, 300)),
            "node": node({**_MAINTENANCE, "timeAdded": ADDED}),
            "now": NOW,
        },
    ),
    "forever": Example(
        summary="Tolerated without an end: KEEP",
        body={"pod": pod("log-agent-x7k2p", _tolerates("")), "node": node(_LOST), "now": NOW},
    ),
    "noTimeAdded": Example(
        summary="A taint without timeAdded, seen first two minutes ago",
        body={
            "pod": pod("web-0", _tolerates("maintenance", 180)),
            "node": node(_MAINTENANCE),
            "nodeTaints": {
                "firstObserved": [
                    {
                        "key": "maintenance",
                        "value": "disk",
                        "effect": "NoExecute",
                        "time": "2026-05-04T11:58:00Z",
                    }
                ]
            },
            "now": NOW,
        },
    ),
    "whatIf": Example(
        summary="A pod without a node: what if it ran there from now on?",
        body={
            "pod": {
                "metadata": {"name": "web-1", "namespace": "default"},
                "spec": {"tolerations": [_tolerates(_UNREACHABLE, 300)]},
            },
            "node": node(_LOST),
            "now": NOW,
        },
    ),
    "comparison": Example(
        summary="Operator Lt, behind its gate: tolerates taint values below 500",
        body={
            "pod": pod(
                "batch-4", {"key": "example.com/latency-ms", "operator": "Lt", "value": "500"}
            ),
            "node": node({"key": "example.com/latency-ms", "value": "120", "effect": "NoExecute"}),
            "now": NOW,
            "options": {"comparisonOperators": True},
        },
    ),
}

_PODS = [
    pod("web-0", _tolerates(_UNREACHABLE, 300)),
    pod("log-agent-x7k2p", _tolerates("")),
    pod("cache-0"),
    pod("import-28", phase="Succeeded"),
]

NODE: Mapping[str, Example] = {
    "drain": Example(
        summary="Four pods on a node that was lost a minute ago",
        body={"node": node(_LOST), "pods": _PODS, "now": NOW},
    ),
    "explained": Example(
        summary="The same with every rule that was looked at",
        body={
            "node": node(_LOST),
            "pods": _PODS[:2],
            "now": NOW,
            "options": {"explain": True},
        },
    ),
}

TAINT_CHANGE: Mapping[str, Example] = {
    "add": Example(
        summary="Before tainting a node for maintenance",
        body={
            "node": node(),
            "pods": _PODS,
            "addTaints": [{"key": "maintenance", "value": "disk", "effect": "NoExecute"}],
            "now": NOW,
        },
    ),
    "remove": Example(
        summary="What does removing the taint save?",
        body={
            "node": node(_LOST),
            "pods": _PODS,
            "removeTaints": [{"key": _UNREACHABLE, "effect": "NoExecute"}],
            "now": NOW,
        },
    ),
}
