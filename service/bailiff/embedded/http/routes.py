"""From a path to what it names."""

from __future__ import annotations

from dataclasses import dataclass

from bailiff.embedded import errors
from bailiff.embedded.resources import RESOURCES, Resource, subresources_of

_BY_PATH = {(r.group, r.version, r.plural): r for r in RESOURCES}
GROUP_VERSIONS = frozenset((r.group, r.version) for r in RESOURCES)


@dataclass(frozen=True, slots=True)
class Route:
    """A collection, an object or a part of one.

    Attributes:
        resource: of which kind.
        namespace: None where the path names none.
        name: empty for a collection.
        subresource: empty for the whole.
    """

    resource: Resource
    namespace: str | None = None
    name: str = ""
    subresource: str = ""


def parse_path(segments: list[str]) -> Route:
    """The route of `api/v1/...` or `apis/GROUP/VERSION/...`.

    Raises:
        ApiError: 404, nothing is there.
    """
    prefix = 2 if segments[0] == "api" else 3
    if len(segments) <= prefix:
        raise errors.no_such_path()
    group = "" if prefix == 2 else segments[1]
    version, rest = segments[prefix - 1], segments[prefix:]
    namespaced = _namespaced(group, version, rest)
    if namespaced is not None:
        return namespaced
    resource = _BY_PATH.get((group, version, rest[0]))
    if resource is None or (resource.namespaced and len(rest) > 1):
        raise errors.no_such_path()
    return _route(resource, None, rest[1:])


def _namespaced(group: str, version: str, rest: list[str]) -> Route | None:
    if rest[0] != "namespaces" or len(rest) < 3:
        return None
    resource = _BY_PATH.get((group, version, rest[2]))
    if resource is None or not resource.namespaced:
        return None
    return _route(resource, rest[1], rest[3:])


def _route(resource: Resource, namespace: str | None, rest: list[str]) -> Route:
    name = rest[0] if rest else ""
    subresource = rest[1] if len(rest) > 1 else ""
    if len(rest) > 2 or (rest and not name):
        raise errors.no_such_path()
    if subresource and subresource not in subresources_of(resource):
        raise errors.no_such_path()
    return Route(resource, namespace, name, subresource)
