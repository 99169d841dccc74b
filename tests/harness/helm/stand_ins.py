"""The one kind of the chart that Kubernetes itself does not serve.

Of the Prometheus operator's ServiceMonitor just the fields that the chart writes, with the
operator's types; anything else is refused as unknown.
"""

from __future__ import annotations

from typing import Any


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_TEXT = {"type": "string"}
_ENDPOINT = _object(
    port=_TEXT,
    path=_TEXT,
    interval=_TEXT | {"pattern": "^(0|(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"},
)
_LABELS = {"type": "object", "additionalProperties": _TEXT}
_SPEC = _object(
    selector=_object(matchLabels=_LABELS), endpoints={"type": "array", "items": _ENDPOINT}
) | {"required": ["endpoints", "selector"]}

SERVICE_MONITORS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "servicemonitors.monitoring.coreos.com"},
    "spec": {
        "group": "monitoring.coreos.com",
        "scope": "Namespaced",
        "names": {
            "kind": "ServiceMonitor",
            "plural": "servicemonitors",
            "singular": "servicemonitor",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _object(spec=_SPEC) | {"required": ["spec"]}},
            }
        ],
    },
}
