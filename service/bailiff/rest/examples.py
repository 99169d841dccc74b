"""Questions to try, in Kubernetes' own JSON. Their answers are computed, never written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# All examples name their instant, so that anybody who runs one gets the answer that is shown.
_NOW = "2026-05-04T12:00:00Z"
_ADDED = "2026-05-04T11:59:00Z"


@dataclass(frozen=True, kw_only=True)
class Example:
    """A body.

    Attributes:
        summary: what it shows.
        body: the JSON value.
    """

    summary: str
    body: Mapping[str, Any]


def _pod(name: str, *tolerations: Mapping[str, Any], phase: str = "Running") -> dict[str, Any]:
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


def _node(*taints: Mapping[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "node-1"}, "spec": {"taints": list(taints)}}


def _tolerates(key: str, seconds: int | None = None) -> dict[str, Any]:
    toleration: dict[str, Any] = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        toleration["tolerationSeconds"] = seconds
    return toleration


_UNREACHABLE = "node.kubernetes.io/unreachable"
_LOST = {"key": _UNREACHABLE, "effect": "NoExecute", "timeAdded": _ADDED}
_MAINTENANCE = {"key": "maintenance", "value": "disk", "effect": "NoExecute"}

ONE_POD: Mapping[str, Example] = {
    "timed": Example(
        summary="The node was lost a minute ago, the pod waits five: EVICT_AT",
        body={
            "pod": _pod("web-0", _tolerates(_UNREACHABLE, 300)),
            "node": _node(_LOST),
            "now": _NOW,
        },
    ),
    "untolerated": Example(
        summary="Nothing tolerates the taint: EVICT_NOW",
        body={
            "pod": _pod("web-0", _tolerates(_UNREACHABLE, 300)),
            "node": _node({**_MAINTENANCE, "timeAdded": _ADDED}),
            "now": _NOW,
        },
    ),
    "forever": Example(
        summary="Tolerated without an end: KEEP",
        body={"pod": _pod("log-agent-x7k2p", _tolerates("")), "node": _node(_LOST), "now": _NOW},
    ),
    "noTimeAdded": Example(
        summary="A taint without timeAdded, seen first two minutes ago",
        body={
            "pod": _pod("web-0", _tolerates("maintenance", 180)),
            "node": _node(_MAINTENANCE),
            "firstObserved": [
                {
                    "key": "maintenance",
                    "value": "disk",
                    "effect": "NoExecute",
                    "time": "2026-05-04T11:58:00Z",
                }
            ],
            "now": _NOW,
        },
    ),
    "whatIf": Example(
        summary="A pod without a node: what if it ran there from now on?",
        body={
            "pod": {
                "metadata": {"name": "web-1", "namespace": "default"},
                "spec": {"tolerations": [_tolerates(_UNREACHABLE, 300)]},
            },
            "node": _node(_LOST),
            "now": _NOW,
        },
    ),
    "comparison": Example(
        summary="Operator Lt, behind its gate: tolerates taint values below 500",
        body={
            "pod": _pod(
                "batch-4", {"key": "example.com/latency-ms", "operator": "Lt", "value": "500"}
            ),
            "node": _node({"key": "example.com/latency-ms", "value": "120", "effect": "NoExecute"}),
            "now": _NOW,
            "options": {"comparisonOperators": True},
        },
    ),
}

_PODS = [
    _pod("web-0", _tolerates(_UNREACHABLE, 300)),
    _pod("log-agent-x7k2p", _tolerates("")),
    _pod("cache-0"),
    _pod("import-28", phase="Succeeded"),
]

NODE: Mapping[str, Example] = {
    "drain": Example(
        summary="Four pods on a node that was lost a minute ago",
        body={"node": _node(_LOST), "pods": _PODS, "now": _NOW},
    ),
    "explained": Example(
        summary="The same with every rule that was looked at",
        body={
            "node": _node(_LOST),
            "pods": _PODS[:2],
            "now": _NOW,
            "options": {"explain": True},
        },
    ),
}

TAINT_CHANGE: Mapping[str, Example] = {
    "add": Example(
        summary="Before tainting a node for maintenance",
        body={
            "node": _node(),
            "pods": _PODS,
            "addTaints": [{"key": "maintenance", "value": "disk", "effect": "NoExecute"}],
            "now": _NOW,
        },
    ),
    "remove": Example(
        summary="What does removing the taint save?",
        body={
            "node": _node(_LOST),
            "pods": _PODS,
            "removeTaints": [{"key": _UNREACHABLE, "effect": "NoExecute"}],
            "now": _NOW,
        },
    ),
}
