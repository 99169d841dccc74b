"""Questions of schedulers to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.rest_api.examples.nodes import NOW, Example

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOLERATIONS = [
    {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
]
NODES: Mapping[str, Example] = {
    "nodes": Example(
        summary="Four nodes, of which three would take the pod",
        body={
            "now": NOW,
            "pod": {
                "metadata": {"namespace": "shop", "name": "web-0"},
                "spec": {"tolerations": _TOLERATIONS},
            },
            "nodes": [
                {"metadata": {"name": "node-1"}},
                {
                    "metadata": {"name": "node-2"},
                    "spec": {"taints": [{"key": "spot", "effect": "PreferNoSchedule"}]},
                },
                {
                    "metadata": {"name": "node-3"},
                    "spec": {
                        "taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
                    },
                },
                {
                    "metadata": {"name": "gpu-1"},
                    "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
                },
            ],
            "maintenance": [
                {
                    "nodes": ["node-1"],
                    "startsAt": "2026-05-04T22:00:00Z",
                    "endsAt": "2026-05-05T02:00:00Z",
                    "reason": "new kernel",
                }
            ],
        },
    )
}
