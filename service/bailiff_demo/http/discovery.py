"""What is served, as clients ask for it: /api, /apis, /version, and a little OpenAPI.

kubectl create and apply ask the OpenAPI document of a group version whether PATCH of the kind takes
`fieldValidation`. If so they send the object and let the server judge it, and for apply they build
strategic merge patches from the types that are compiled into kubectl, since these documents offer
no schema. Nothing else is in them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from bailiff_demo.http.answers import json_response
from bailiff_demo.resources import ALL_VERBS, RESOURCES, Resource
from bailiff_demo.settings import KUBERNETES_VERSION

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from bailiff_demo.objects import JsonObject

PATHS = (
    "/version",
    "/api",
    "/api/{version}",
    "/apis",
    "/apis/{group}",
    "/apis/{group}/{version}",
    "/openapi/v3",
    "/openapi/v3/{document:path}",
)
_VERSION = {
    "major": KUBERNETES_VERSION[1:].split(".")[0],
    "minor": KUBERNETES_VERSION.split(".")[1],
    "gitVersion": KUBERNETES_VERSION,
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "python",
    "platform": "demo",
}


async def describe(request: Request) -> Response:
    """GET one of PATHS."""
    path, names = request.url.path, request.path_params
    found: JsonObject | None = None
    if path == "/version":
        found = _VERSION
    elif path.startswith("/openapi"):
        found = _openapi(names["document"]) if names else _openapi_index()
    elif path == "/api":
        found = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    elif "version" in names:
        found = _resource_list(names.get("group", ""), names["version"])
    elif names:
        found = _group(names["group"], {"kind": "APIGroup", "apiVersion": "v1"})
    else:
        listed = [_group(name) for name in _groups()]
        found = {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
    if not found:
        raise HTTPException(404)
    return json_response(found)


def _groups() -> list[str]:
    return list(dict.fromkeys(r.group for r in RESOURCES if r.group))


def _versions(group: str) -> list[str]:
    return list(dict.fromkeys(r.version for r in RESOURCES if r.group == group))


def _of(group: str, version: str) -> list[Resource]:
    return [r for r in RESOURCES if (r.group, r.version) == (group, version)]


def _group(name: str, head: JsonObject | None = None) -> JsonObject | None:
    versions = [{"groupVersion": f"{name}/{v}", "version": v} for v in _versions(name)]
    if not versions:
        return None
    return {**(head or {}), "name": name, "versions": versions, "preferredVersion": versions[0]}


def _resource_list(group: str, version: str) -> JsonObject | None:
    resources = _of(group, version)
    if not resources:
        return None
    head = {"kind": "APIResourceList", "apiVersion": "v1"}
    listed = [entry for resource in resources for entry in _entries(resource)]
    return {**head, "groupVersion": resources[0].api_version, "resources": listed}


def _entries(resource: Resource) -> list[JsonObject]:
    scope = {"namespaced": resource.namespaced}
    entry: JsonObject = {"name": resource.plural, "singularName": resource.kind.lower(), **scope}
    entries = [{**entry, "kind": resource.kind, "verbs": list(ALL_VERBS), **_names(resource)}]
    for name, sub in resource.subresources.items():
        entry = {"name": f"{resource.plural}/{name}", "singularName": "", **scope}
        entry |= {"kind": sub.kind or resource.kind, "verbs": list(sub.verbs)}
        if sub.group:
            entry |= {"group": sub.group, "version": sub.version}
        entries.append(entry)
    return entries


def _names(resource: Resource) -> JsonObject:
    names = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {k: v for k, v in names.items() if v}


@cache
def _openapi_index() -> JsonObject:
    roots = dict.fromkeys(resource.root for resource in RESOURCES)
    url = "/openapi/v3{}?hash=bailiff"
    return {"paths": {root[1:]: {"serverRelativeURL": url.format(root)} for root in roots}}


@cache
def _openapi(root: str) -> JsonObject | None:
    found = [resource for resource in RESOURCES if resource.root == f"/{root}"]
    if not found:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": KUBERNETES_VERSION},
        "paths": {_object_path(r): {"patch": _patch_operation(r)} for r in found},
        "components": {"schemas": {}},
    }


def _object_path(resource: Resource) -> str:
    namespace = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"{resource.root}{namespace}/{resource.plural}/{{name}}"


def _patch_operation(resource: Resource) -> JsonObject:
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
