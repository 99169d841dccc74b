"""The pods of a workload: finding, making and counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import JsonObject, clone, has_finished, is_going, part
from bailiff_demo.registry import DeleteOptions, Registry, Target
from bailiff_demo.resources import PODS, Resource

if TYPE_CHECKING:
    from bailiff_demo.store import Record


def controller_of(obj: JsonObject) -> JsonObject | None:
    """The reference to what controls an object; None without one."""
    owners: list[JsonObject] = obj["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)


def owned(registry: Registry, resource: Resource, owner: Record) -> list[Record]:
    """The objects that an object controls, in the order of their names."""
    records = registry.store.bucket(resource).records(owner.key[0])
    return [r for r in records if (controller_of(r.object) or {}).get("uid") == owner.uid]


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
    metadata = {**found, **meta, "ownerReferences": [reference_to(owner)]}
    return {"metadata": metadata, "spec": template["spec"]}


def is_active(pod: JsonObject) -> bool:
    """Neither going nor ended."""
    return not is_going(pod) and not has_finished(pod)


def delete_pod(registry: Registry, record: Record) -> None:
    """Delete a pod in its own time."""
    if not is_going(record.object):
        registry.delete(Target(PODS, *record.key), DeleteOptions(uid=record.uid))


def write_status(registry: Registry, resource: Resource, owner: Record, status: JsonObject) -> None:
    """Write a workload's status, if it says something new."""
    record = registry.store.bucket(resource).get(owner.key)
    if record is None:
        return
    counts = {k: v for k, v in status.items() if v}
    counts["observedGeneration"] = record.object["metadata"].get("generation", 1)
    if part(record.object, "status") != counts:
        registry.store.replace(resource, record, {**clone(record.object), "status": counts})
