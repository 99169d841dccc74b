"""Server-side apply, for any contract test."""

from __future__ import annotations

import json
from typing import Any

from bailiff import cluster as k8s
from bailiff.cluster import Request
from tests.harness.api import Bench
from tests.harness.objects import Object, object_of

MAPS: k8s.Resource[Object] = k8s.Resource("", "v1", "configmaps", dict)


async def apply(
    bench: Bench, resource: Any, config: Object, manager: str, subresource: str = "", **query: str
) -> Object:
    """Apply a configuration, as a raw request: the answer's object."""
    namespace = bench.namespace if resource.namespaced else ""
    path = resource.path(namespace, config["metadata"]["name"], subresource)
    asked = {"fieldManager": manager} | query
    body = json.dumps(config).encode()
    request = Request("PATCH", path, asked, body, "application/apply-patch+yaml")
    answer: Object = json.loads(await bench.cluster.send(request))
    return answer


def pod_config(*containers: Object, **status: Any) -> Object:
    config = object_of("Pod", "a")
    if containers:
        config["spec"] = {"containers": list(containers)}
    return config | ({"status": status} if status else {})


def owned_by(obj: Object, manager: str, operation: str = "Apply") -> Object:
    """What a manager owns, as FieldsV1."""
    for entry in obj["metadata"]["managedFields"]:
        if (entry["manager"], entry["operation"]) == (manager, operation):
            fields: Object = entry["fieldsV1"]
            return fields
    return {}
