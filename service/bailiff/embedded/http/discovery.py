"""What is served, as clients ask for it: /api, /apis, /version and the OpenAPI stubs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bailiff.embedded.resources import ALL_VERBS, RESOURCES, Resource, subresources_of

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


def groups() -> list[str]:
    """The named groups, in the table's order."""
    return list(dict.fromkeys(r.group for r in RESOURCES if r.group))


def core_versions() -> JsonObject:
    """/api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list() -> JsonObject:
    """/apis."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(name) for name in groups()],
    }


def group(name: str) -> JsonObject | None:
    """/apis/GROUP; None if there is none."""
    if name not in groups():
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name)}


def _group(name: str) -> JsonObject:
    versions = dict.fromkeys(r.version for r in RESOURCES if r.group == name)
    listed = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resource_list(group_name: str, version: str) -> JsonObject | None:
    """/api/v1 and /apis/GROUP/VERSION; None if there is none."""
    found = [r for r in RESOURCES if (r.group, r.version) == (group_name, version)]
    if not found:
        return None
    listed: list[JsonObject] = []
    for resource in found:
        listed.append(_resource(resource))
        listed.extend(_subresources(resource))
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": found[0].api_version,
        "resources": listed,
    }


def _resource(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(ALL_VERBS),
    }
    return entry | _names(resource)


def _names(resource: Resource) -> JsonObject:
    names = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {k: v for k, v in names.items() if v}


def _subresources(resource: Resource) -> list[JsonObject]:
    listed = []
    for name, sub in subresources_of(resource).items():
        entry: JsonObject = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": sub.kind or resource.kind,
            "verbs": list(sub.verbs),
        }
        if sub.group:
            entry |= {"group": sub.group, "version": sub.version}
        listed.append(entry)
    return listed


def aggregated(*, core: bool) -> JsonObject:
    """All groups in one answer; the core group is asked for alone, at /api."""
    names = [""] if core else groups()
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(name) for name in names],
    }


def _aggregated_group(name: str) -> JsonObject:
    versions = dict.fromkeys(r.version for r in RESOURCES if r.group == name)
    listed = [
        {
            "version": version,
            "freshness": "Current",
            "resources": [
                _aggregated_resource(r)
                for r in RESOURCES
                if (r.group, r.version) == (name, version)
            ],
        }
        for version in versions
    ]
    return {"metadata": {"name": name} if name else {}, "versions": listed}


def _aggregated_resource(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": _kind(resource.group, resource.version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(ALL_VERBS),
    }
    subresources = [
        {
            "subresource": name,
            "responseKind": _kind(
                sub.group or resource.group,
                sub.version or resource.version,
                sub.kind or resource.kind,
            ),
            "verbs": list(sub.verbs),
        }
        for name, sub in subresources_of(resource).items()
    ]
    return entry | _names(resource) | ({"subresources": subresources} if subresources else {})


def _kind(group_name: str, version: str, kind: str) -> JsonObject:
    return {"group": group_name, "version": version, "kind": kind}


@cache
def openapi_index() -> JsonObject:
    """/openapi/v3: where the document of each group version is."""
    paths = {
        _openapi_path(r): {"serverRelativeURL": f"/openapi/v3/{_openapi_path(r)}?hash=bailiff"}
        for r in RESOURCES
    }
    return {"paths": paths}


def _openapi_path(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


@cache
def openapi(path: str) -> JsonObject | None:
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
        "x-kubernetes-group-version-kind": _kind(resource.group, resource.version, resource.kind),
    }
