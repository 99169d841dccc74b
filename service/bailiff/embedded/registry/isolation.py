"""What a write through one endpoint leaves as it is: the status, or all but the status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.resources import NAMESPACES, PODS

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry.target import Target


def isolate(target: Target, new: JsonObject, old: JsonObject) -> None:
    """Keep what the other endpoint owns: the status, or all but the status."""
    if not target.resource.status:
        return
    if target.subresource != "status":
        _keep(new, old, "status")
        if target.resource is NAMESPACES and not target.subresource:
            _keep(new, old, "spec")
        return
    for name in {*new, *old} - {"status", "metadata", "kind", "apiVersion"}:
        _keep(new, old, name)
    if target.resource.status_keeps_metadata:
        for name in ("labels", "annotations", "finalizers", "ownerReferences"):
            _keep(new["metadata"], old["metadata"], name)
    if target.resource is PODS:
        # Upstream: old kubelets would corrupt the references.
        _keep(new["metadata"], old["metadata"], "ownerReferences")
        _keep_missing(new.setdefault("status", {}), old.get("status", {}), "qosClass")


def _keep(new: JsonObject, old: JsonObject, name: str) -> None:
    new.pop(name, None)
    if name in old:
        new[name] = old[name]


def _keep_missing(new: JsonObject, old: JsonObject, name: str) -> None:
    if name in old:
        new.setdefault(name, old[name])
