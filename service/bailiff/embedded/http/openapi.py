"""The OpenAPI v3 documents: as much as kubectl needs, not more."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bailiff.embedded.resources import RESOURCES, Resource

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2+bailiff",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "python",
    "platform": "embedded",
}


@cache
def index() -> JsonObject:
    """/openapi/v3: where the document of each group version is."""
    paths = {
        _openapi_path(r): {"serverRelativeURL": f"/openapi/v3/{_openapi_path(r)}?hash=bailiff"}
        for r in RESOURCES
    }
    return {"paths": paths}


def _openapi_path(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


@cache
def document(path: str) -> JsonObject | None:
    """/openapi/v3/PATH: what kubectl looks for before it leaves validation to the server.

    kubectl create and apply ask the document of a group version whether PATCH of the kind takes
    `fieldValidation`. If so they send the object and let the server judge it, and for apply they
    build strategic merge patches from the types that are compiled into kubectl, since these
    documents offer no schema. Nothing else is in them.
    """
    found = [r for r in RESOURCES if _openapi_path(r) == path]
    if not found:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION["gitVersion"]},
        "paths": {_object_path(r): {"patch": _patch_operation(r)} for r in found},
        "components": {"schemas": {}},
    }


def _object_path(resource: Resource) -> str:
    namespace = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"/{_openapi_path(resource)}{namespace}/{resource.plural}/{{name}}"


def _patch_operation(resource: Resource) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}}
        for name in ("dryRun", "fieldManager", "fieldValidation")
    ]
    return {
        "operationId": f"patch{resource.kind}",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {
            "group": resource.group,
            "version": resource.version,
            "kind": resource.kind,
        },
    }
