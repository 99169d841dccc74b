"""JSON Schemas for kubeconform, made of what an API server says of itself.

kubeconform would download schemas of Kubernetes; these are of the very server that the chart is
tried on, with whatever kinds have been added to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bailiff.cluster import Request

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bailiff.cluster import Cluster

_REF = "#/components/schemas/"
# As kubeconform fills it in for each object.
FILE_TEMPLATE = "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"


async def write_schemas(cluster: Cluster, api_versions: Iterable[str], folder: Path) -> None:
    """One file for each kind of these API versions (as `v1`, `apps/v1`), strict and complete."""
    for api_version in api_versions:
        path = f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"
        document = json.loads(await cluster.send(Request("GET", f"/openapi/v3/{path}")))
        schemas = document["components"]["schemas"]
        definitions = {name: _strict(schema) for name, schema in schemas.items()}
        for name, schema in schemas.items():
            for kind in schema.get("x-kubernetes-group-version-kind", ()):
                _write(folder, kind, {"$ref": f"#/$defs/{name}", "$defs": definitions})


def _write(folder: Path, kind: dict[str, str], schema: dict[str, Any]) -> None:
    # kubeconform takes the version of the core group for its name.
    group = kind["group"] or kind["version"]
    file = f"{kind['kind'].lower()}-{group}-{kind['version']}.json"
    (folder / file).write_text(json.dumps(schema))


def _strict(schema: Any) -> Any:
    """The schema, where no object may have a property that is not named, and refs lead to $defs."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(part) for key, part in schema.items()}
    if isinstance(reference := schema.get("$ref"), str):
        strict["$ref"] = reference.replace(_REF, "#/$defs/")
    # A property may be called "properties" too; only a schema's own has a map behind it.
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        strict.setdefault("additionalProperties", False)
    return strict
