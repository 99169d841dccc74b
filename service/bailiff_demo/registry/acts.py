"""What can be done to objects beyond writing them: bind, scale. See also eviction.py."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject, clone, is_going, part, set_condition
from bailiff_demo.resources import PODS
from bailiff_demo.shapes import check_shape

if TYPE_CHECKING:
    from bailiff_demo.registry.meta import Target
    from bailiff_demo.registry.registry import Registry
    from bailiff_demo.store import Record


def bind(registry: Registry, target: Target, binding: JsonObject) -> None:
    """Give a pod to a node (pkg/registry/core/pod/storage: BindingREST).

    Raises:
        ApiError: 400, another name than the path's, or no target; 404; 409, the pod is bound,
            going, gated, or not the one that is meant.
    """
    check_shape(binding, "Binding")
    meta, node = binding.get("metadata") or {}, part(binding, "target").get("name", "")
    if meta.get("name", target.name) != target.name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    if not node:
        raise errors.invalid("", "Binding", target.name, [Cause.required("target.name")])
    record = registry.find(target)
    _check_bindable(target, record, meta)
    pod = clone(record.object)
    pod["spec"]["nodeName"] = node
    for name in ("annotations", "labels"):
        if meta.get(name):
            pod["metadata"][name] = {**pod["metadata"].get(name, {}), **meta[name]}
    set_condition(pod, {"type": "PodScheduled", "status": "True"}, registry.clock.now())
    registry.store.replace(PODS, record, pod)


def _check_bindable(target: Target, record: Record, meta: JsonObject) -> None:
    if (uid := meta.get("uid")) and uid != record.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {record.uid}"
        raise errors.conflict(target.resource, target.name, why)
    why = ""
    if is_going(record.object):
        why = f"pod {target.name} is being deleted, cannot be assigned to a host"
    elif node := record.object["spec"].get("nodeName"):
        why = f'pod {target.name} is already assigned to node "{node}"'
    elif record.object["spec"].get("schedulingGates"):
        why = f"pod {target.name} has non-empty .spec.schedulingGates"
    if why:
        raise errors.conflict(target.resource, target.name, why, "pods/binding")


def scale_of(record: Record) -> JsonObject:
    """autoscaling/v1 Scale of a workload."""
    meta = record.object["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    labels = part(record.object, "spec", "selector").get("matchLabels") or {}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: meta[name] for name in kept if name in meta},
        "spec": {"replicas": part(record.object, "spec").get("replicas", 0)},
        "status": {
            "replicas": part(record.object, "status").get("replicas", 0),
            "selector": ",".join(f"{k}={v}" for k, v in sorted(labels.items())),
        },
    }


def set_scale(registry: Registry, target: Target, scale: JsonObject, manager: str) -> Record:
    """Set the number of replicas.

    Raises:
        ApiError: 400, no Scale; 404; 409, stale; 422, a number below zero.
    """
    check_shape(scale, "Scale")
    meta = scale.get("metadata") or {}

    def mutate(workload: JsonObject) -> JsonObject:
        workload["spec"]["replicas"] = part(scale, "spec").get("replicas", 0)
        if meta.get("resourceVersion"):
            workload["metadata"]["resourceVersion"] = meta["resourceVersion"]
        return workload

    return registry.change(replace(target, subresource=""), mutate, manager=manager)
