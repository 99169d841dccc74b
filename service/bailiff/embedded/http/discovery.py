"""What is served, as clients ask for it: /api, /apis, /version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.http import openapi
from bailiff.embedded.http.openapi import VERSION
from bailiff.embedded.resources import ALL_VERBS, RESOURCES, Resource, subresources_of

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject


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


def describe(segments: list[str]) -> JsonObject:
    """What a path of discovery says.

    Raises:
        ApiError: 404, nothing is there.
    """
    found: JsonObject | None = None
    match segments:
        case ["api" | "apis", *rest]:
            found = _describe_api(segments[0], rest)
        case ["version"]:
            found = dict(VERSION)
        case ["openapi", "v3", *path]:
            found = openapi.document("/".join(path)) if path else openapi.index()
    if found is None:
        raise errors.no_such_path()
    return found


def _describe_api(root: str, rest: list[str]) -> JsonObject | None:
    if root == "api":
        return resource_list("", rest[0]) if rest else core_versions()
    if not rest:
        return group_list()
    return group(rest[0]) if len(rest) == 1 else resource_list(rest[0], rest[1])
