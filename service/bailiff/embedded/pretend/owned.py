"""The pods of a workload: finding, making and counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, clone, find_condition, part
from bailiff.embedded.registry import DeleteOptions, Registry, Target
from bailiff.embedded.resources import PODS, Resource

if TYPE_CHECKING:
    from bailiff.embedded.storage import Record


def owned(registry: Registry, resource: Resource, owner: Record) -> list[Record]:
    """The objects that an object controls, in the order of their names."""
    records = registry.store.bucket(resource).records(owner.key[0])
    return [record for record in records if _controlled_by(record.object, owner.uid)]


def _controlled_by(obj: JsonObject, uid: str) -> bool:
    owners = obj["metadata"].get("ownerReferences") or []
    return any(o.get("controller") and o.get("uid") == uid for o in owners)


def reference_to(owner: JsonObject) -> JsonObject:
    """metav1.OwnerReference of the controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from(owner: JsonObject, **meta: object) -> JsonObject:
    """A pod as the owner's template wants it, with these metadata besides."""
    template = clone(owner["spec"]["template"])
    found = {k: v for k, v in template["metadata"].items() if k in ("labels", "annotations")}
    template["metadata"] = {**found, **meta, "ownerReferences": [reference_to(owner)]}
    return {"metadata": template["metadata"], "spec": template["spec"]}


def is_active(pod: JsonObject) -> bool:
    """Neither going nor ended."""
    phase = part(pod, "status").get("phase")
    return not pod["metadata"].get("deletionTimestamp") and phase not in ("Succeeded", "Failed")


def is_ready(pod: JsonObject) -> bool:
    """Its Ready condition holds."""
    ready = find_condition(pod, "Ready")
    return ready is not None and ready.get("status") == "True"


def delete_pod(registry: Registry, record: Record) -> None:
    """Delete a pod in its own time."""
    if not record.object["metadata"].get("deletionTimestamp"):
        registry.delete(Target(PODS, *record.key), DeleteOptions(uid=record.uid))


def write_status(registry: Registry, resource: Resource, owner: Record, status: JsonObject) -> None:
    """Write a workload's status, if it says something new."""
    record = registry.store.bucket(resource).get(owner.key)
    if record is None:
        return
    counts = {k: v for k, v in status.items() if v}
    counts["observedGeneration"] = record.object["metadata"].get("generation", 1)
    if part(record.object, "status") != counts:
        changed = clone(record.object)
        changed["status"] = counts
        registry.store.replace(resource, record, changed)
