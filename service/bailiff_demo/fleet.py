"""What is in a demo cluster from the start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Self

import msgspec

from bailiff.kinds import DecodeError
from bailiff.kinds.yaml_text import parse_yaml_documents
from bailiff_demo.controllers.kubelet import ready_node
from bailiff_demo.errors import ApiError
from bailiff_demo.objects import JsonObject, clone
from bailiff_demo.resources import NODES, PODS, RESOURCECLAIMS, RESOURCES

if TYPE_CHECKING:
    from bailiff_demo.registry import Registry

_BY_KIND = {(r.api_version, r.kind): r for r in RESOURCES}


class FleetError(ValueError):
    """A fleet cannot be there; the message names the object and says why."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Objects to begin with.

    Attributes:
        objects: complete with apiVersion and kind, in an order in which they can be made:
            namespaces before what lives in them, pods before claims reserved for them.
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

        Raises:
            FleetError: one of them breaks rules, is of a kind that is not served, or is reserved
                for a pod that is not there.
        """
        for obj in self.objects:
            try:
                _settle(registry, obj)
            except (ApiError, FleetError, AttributeError, KeyError, TypeError) as error:
                raise FleetError(f"{_name_of(obj)}: {error}") from error


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
