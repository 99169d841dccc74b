"""What is in a demo cluster from the start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Self

import msgspec

from bailiff.kinds import DecodeError
from bailiff.kinds.yaml_text import parse_yaml_documents
from bailiff_demo.controllers.kubelet import ready_node
from bailiff_demo.controllers.owned import controller_of
from bailiff_demo.errors import ApiError
from bailiff_demo.objects import JsonObject, clone
from bailiff_demo.resources import NAMESPACES, NODES, PODS, RESOURCECLAIMS, RESOURCES

if TYPE_CHECKING:
    from bailiff_demo.registry import Registry

_BY_KIND = {(r.api_version, r.kind): r for r in RESOURCES}


class FleetError(ValueError):
    """A fleet cannot be there; the message names the object and says why."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Objects to begin with.

    Attributes:
        objects: complete with apiVersion and kind.
    """

    objects: tuple[JsonObject, ...]

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """From YAML or JSON documents; Lists, as `kubectl get -o yaml` writes them, are opened.

        Raises:
            FleetError: not understood.
        """
        try:
            # What YAML has and JSON has not, such as half of a character, shows here.
            documents = msgspec.json.decode(msgspec.json.encode(parse_yaml_documents(text)))
        except (DecodeError, TypeError, ValueError) as error:
            raise FleetError(str(error)) from error
        objects: list[JsonObject] = []
        for document in documents:
            if not isinstance(document, dict):
                raise FleetError(f"not an object of Kubernetes: {document!r:.60}")
            items = document.get("items") if document.get("kind") == "List" else None
            objects += items if isinstance(items, list) else [document]
        return cls(tuple(objects))

    @classmethod
    def demo(cls) -> Self:
        """The fleet of the README: nodes, and in namespace `demo` pods of every temper."""
        return cls.parse(files("bailiff_demo").joinpath("demo.yaml").read_bytes())

    def settle(self, registry: Registry) -> None:
        """Make the objects; nodes are ready and claims allocated at once.

        Namespaces come first, claims last, and a namespace that is only named is made, too. What a
        workload controls is left out: its controller makes it anew.

        Raises:
            FleetError: one of them breaks rules, is of a kind that is not served, or is reserved
                for a pod that is not there.
        """
        for obj in sorted(self.objects, key=_turn):
            try:
                if not _is_controlled(obj):
                    _settle(registry, obj)
            except (ApiError, FleetError, AttributeError, KeyError, TypeError) as error:
                raise FleetError(f"{_name_of(obj)}: {error}") from error


# Kinds that others need; all others come between these, but claims, which need pods.
_FIRST = ("Namespace", "PriorityClass", "Node")
_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


def _turn(obj: object) -> int:
    kind = obj.get("kind") if isinstance(obj, dict) else None
    if kind in _FIRST:
        return _FIRST.index(kind)
    return len(_FIRST) + (kind == RESOURCECLAIMS.kind)


def _is_controlled(obj: JsonObject) -> bool:
    owner = controller_of({"metadata": obj.get("metadata") or {}})
    return owner is not None and owner.get("kind") in _WORKLOADS


def _name_of(obj: object) -> str:
    """As people name it: `Pod web`, as far as it says so."""
    found = obj if isinstance(obj, dict) else {}
    meta = found.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    return f"{found.get('kind') or 'an object'} {name or 'without a name'}"


def _settle(registry: Registry, obj: JsonObject) -> None:
    resource = _BY_KIND.get((obj.get("apiVersion", ""), obj.get("kind", "")))
    if resource is None:
        raise FleetError(f"{obj.get('apiVersion')} {obj.get('kind')} is not served here")
    # A reading of a real cluster says its version; here it gets another.
    meta = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    namespace = meta.get("namespace", "default") if resource.namespaced else ""
    wanted = meta.get("name", "") if resource is NAMESPACES else namespace
    there = registry.store.bucket(NAMESPACES).get(("", wanted)) is not None
    if resource is NAMESPACES and there:
        return
    if resource.namespaced and not there:
        registry.create(NAMESPACES, "", {"metadata": {"name": namespace}})
    made = registry.create(resource, namespace, {**clone(obj), "metadata": meta})
    if resource is NODES:
        node = ready_node(clone(made.object), registry.clock.now())
        registry.store.replace(NODES, made, node)
    elif resource is RESOURCECLAIMS:
        status = clone(obj.get("status") or {})
        for user in status.get("reservedFor") or []:
            pod = registry.store.bucket(PODS).get((namespace, user["name"]))
            if pod is None:
                raise FleetError(f"reserved for {user['name']}, which is not there")
            user["uid"] = pod.uid
        registry.store.replace(RESOURCECLAIMS, made, {**clone(made.object), "status": status})
