"""Which kind of object a request is about, and what its requests look like."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from bailiff.kinds import ConfigMap, Namespace, Node, Pod

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """A kind of object as the API serves it.

    Attributes:
        group: API group; "" is the core group.
        version: of the group, as `v1`.
        plural: the name in URLs, as `pods`.
        kind: the type to decode to; `dict` keeps everything.
        namespaced: whether its objects live in namespaces.
    """

    group: str
    version: str
    plural: str
    kind: type[T]
    namespaced: bool = True

    @property
    def root(self) -> str:
        """The path of the group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of one object, or of all of a namespace, or of all.

        Raises:
            ValueError: a namespace for a resource that has none, or an object without its own.
        """
        self._check(namespace, name)
        parts = [self.root]
        if namespace:
            parts += ["namespaces", _segment(namespace)]
        parts.append(self.plural)
        parts += [_segment(part) for part in (name, subresource) if part]
        return "/".join(parts)

    def _check(self, namespace: str, name: str) -> None:
        if namespace and not self.namespaced:
            raise ValueError(f"{self.plural} have no namespace, got {namespace!r}")
        if name and self.namespaced and not namespace:
            raise ValueError(f"{self.plural} {name!r} needs a namespace")


def _segment(text: str) -> str:
    # A name may hold anything a caller was handed: it must not climb out of its place.
    if text in {".", ".."}:
        raise ValueError(f"{text!r} cannot be part of a path")
    return quote(text, safe="")


PODS = Resource("", "v1", "pods", Pod)
NODES = Resource("", "v1", "nodes", Node, namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", Namespace, namespaced=False)
CONFIG_MAPS = Resource("", "v1", "configmaps", ConfigMap)
EVENTS: Resource[dict[str, Any]] = Resource("", "v1", "events", dict)


class PatchType(StrEnum):
    """How a patch is to be read (apimachinery pkg/types/patch.go)."""

    STRATEGIC = "application/strategic-merge-patch+json"
    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    # JSON is YAML.
    APPLY = "application/apply-patch+yaml"
