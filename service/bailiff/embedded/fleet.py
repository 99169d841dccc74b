"""What is in an embedded cluster from the start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Self

import yaml

from bailiff.embedded.objects import JsonObject, clone
from bailiff.embedded.pretend.statuses import ready_node
from bailiff.embedded.resources import NODES, PODS, RESOURCECLAIMS, RESOURCES, Resource

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry

_BY_KIND = {(r.api_version, r.kind): r for r in RESOURCES}


@dataclass(frozen=True, slots=True)
class Fleet:
    """Objects to begin with.

    Attributes:
        objects: complete with apiVersion and kind, in an order in which they can be made:
            namespaces before what lives in them, pods before claims reserved for them.
    """

    objects: tuple[JsonObject, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """From YAML documents.

        Raises:
            yaml.YAMLError: malformed.
        """
        return cls(tuple(document for document in yaml.safe_load_all(text) if document))

    @classmethod
    def demo(cls) -> Self:
        """The fleet of the README: nodes, and in namespace `demo` pods of every temper."""
        return cls.parse(files("bailiff.embedded").joinpath("demo.yaml").read_text("utf-8"))

    def settle(self, registry: Registry) -> None:
        """Make the objects; nodes are ready and claims allocated at once.

        Raises:
            ApiError: one of them breaks rules.
            KeyError: one is of a kind that is not served, or a claim's pod is not there.
        """
        for obj in self.objects:
            resource: Resource = _BY_KIND[obj["apiVersion"], obj["kind"]]
            meta = obj["metadata"]
            namespace = meta.get("namespace", "default") if resource.namespaced else ""
            record = registry.create(resource, namespace, clone(obj))
            if resource is NODES:
                node = ready_node(clone(record.object), registry.clock.now())
                registry.store.replace(NODES, record, node)
            elif resource is RESOURCECLAIMS:
                allocated = _allocated(registry, record.object, obj.get("status") or {})
                registry.store.replace(RESOURCECLAIMS, record, allocated)


def _allocated(registry: Registry, claim: JsonObject, status: JsonObject) -> JsonObject:
    """The claim with its status, where a fleet names the pods of `reservedFor` without UIDs."""
    found: JsonObject = clone(claim) | {"status": clone(status)}
    pods = registry.store.bucket(PODS)
    for consumer in found["status"].get("reservedFor") or []:
        pod = pods.get((claim["metadata"]["namespace"], consumer["name"]))
        if pod is None:
            raise KeyError(consumer["name"])
        consumer["uid"] = pod.uid
    return found
