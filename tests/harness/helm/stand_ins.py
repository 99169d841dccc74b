"""The kinds of the chart that Kubernetes itself does not serve.

Of the Prometheus operator's ServiceMonitor, PodMonitor and PrometheusRule, and of cert-manager's
Certificate, just the fields that the chart writes, with their types; anything else is refused as
unknown.
"""

from __future__ import annotations

from typing import Any


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_TEXT = {"type": "string"}
_KEY = _object(name=_TEXT, key=_TEXT)
_ENDPOINT = _object(
    port=_TEXT,
    path=_TEXT,
    scheme=_TEXT | {"enum": ["http", "https"]},
    tlsConfig=_object(
        serverName=_TEXT, ca=_object(secret=_KEY), cert=_object(secret=_KEY), keySecret=_KEY
    ),
    authorization=_object(type=_TEXT, credentials=_KEY),
    bearerTokenFile=_TEXT,
    interval=_TEXT | {"pattern": "^(0|(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"},
)
_LABELS = {"type": "object", "additionalProperties": _TEXT}
_SPEC = _object(
    selector=_object(matchLabels=_LABELS), endpoints={"type": "array", "items": _ENDPOINT}
) | {"required": ["endpoints", "selector"]}
_AGENTS = _object(
    selector=_object(matchLabels=_LABELS),
    podMetricsEndpoints={"type": "array", "items": _ENDPOINT},
) | {"required": ["podMetricsEndpoints", "selector"]}
_DURATION = _TEXT | {"pattern": _ENDPOINT["properties"]["interval"]["pattern"]}
_RULE = _object(
    alert=_TEXT, expr=_TEXT, labels=_LABELS, annotations=_LABELS, **{"for": _DURATION}
) | {"required": ["expr"]}
_GROUP = _object(name=_TEXT | {"minLength": 1}, rules={"type": "array", "items": _RULE}) | {
    "required": ["name"]
}
_GROUPS = {"type": "array", "items": _GROUP, "x-kubernetes-list-type": "map"}
_RULES = _object(groups=_GROUPS | {"x-kubernetes-list-map-keys": ["name"]})

_TEXTS = {"type": "array", "items": _TEXT}
_CERTIFICATE = _object(
    secretName=_TEXT,
    dnsNames=_TEXTS,
    usages=_TEXTS,
    privateKey=_object(rotationPolicy=_TEXT | {"enum": ["Never", "Always"]}),
    issuerRef=_object(name=_TEXT, kind=_TEXT, group=_TEXT),
) | {"required": ["secretName", "issuerRef"]}


def _kind(group: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _object(spec=spec) | {"required": ["spec"]}},
                }
            ],
        },
    }


SERVICE_MONITORS = _kind("monitoring.coreos.com", "ServiceMonitor", _SPEC)
POD_MONITORS = _kind("monitoring.coreos.com", "PodMonitor", _AGENTS)
PROMETHEUS_RULES = _kind("monitoring.coreos.com", "PrometheusRule", _RULES)
CERTIFICATES = _kind("cert-manager.io", "Certificate", _CERTIFICATE)
