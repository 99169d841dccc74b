"""Questions about a node that does not come back to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.rest_api.examples.nodes import NOW, Example, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOST = "2026-05-04T11:50:00Z"


def _owned(name: str, kind: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "0", "controller": True}
    found = pod(name)
    return found | {"metadata": found["metadata"] | {"ownerReferences": [owner]}}


_NODE = {
    "metadata": {"name": "node-1", "labels": {"topology.kubernetes.io/zone": "a"}},
    "status": {"conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": _LOST}]},
}

LOST_NODE: Mapping[str, Example] = {
    "lost": Example(
        summary="A node of which nothing was heard for ten minutes, in a zone that is well",
        body={
            "pods": [
                _owned("web", "ReplicaSet"),
                _owned("db", "StatefulSet"),
                _owned("log", "DaemonSet"),
            ],
            "node": _NODE,
            "systems": ["node-loss"],
            "nodeLoss": {"zones": [{"name": "a", "ready": 9, "notReady": 1}]},
            "now": NOW,
        },
    ),
}
