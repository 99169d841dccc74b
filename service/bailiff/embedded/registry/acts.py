"""What can be done to a pod or a namespace beyond writing it: bind, evict, finalize, scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import (
    JsonObject,
    clone,
    find_condition,
    format_time,
    labels_of,
    part,
    set_condition,
)
from bailiff.embedded.registry.deletion import check_preconditions
from bailiff.embedded.registry.target import DeleteOptions, Target
from bailiff.embedded.resources import PODDISRUPTIONBUDGETS, PODS
from bailiff.embedded.selectors import matches_selector
from bailiff.embedded.shapes import check_shape

if TYPE_CHECKING:
    from bailiff.embedded.registry.registry import Registry
    from bailiff.embedded.storage import Record

_MAX_DISRUPTED = 2000


def bind(registry: Registry, target: Target, binding: JsonObject, *, dry_run: bool = False) -> None:
    """Give a pod to a node (pkg/registry/core/pod/storage: BindingREST).

    Raises:
        ApiError: 400, another name than the path's, or no target; 404; 409, the pod is bound,
            going, gated, or not the one that is meant.
    """
    check_shape(binding, "Binding", "v1")
    meta, node = binding.get("metadata") or {}, part(binding, "target").get("name", "")
    if meta.get("name", target.name) != target.name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    if not node:
        raise errors.invalid("", "Binding", target.name, [Cause.required("target.name")])
    record = registry.find(target)
    _check_bindable(target, record, meta)
    if dry_run:
        return
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
    if record.object["metadata"].get("deletionTimestamp"):
        why = f"pod {target.name} is being deleted, cannot be assigned to a host"
    elif node := record.object["spec"].get("nodeName"):
        why = f'pod {target.name} is already assigned to node "{node}"'
    elif record.object["spec"].get("schedulingGates"):
        why = f"pod {target.name} has non-empty .spec.schedulingGates"
    if why:
        bindings = replace(target.resource, plural="pods/binding")
        raise errors.conflict(bindings, target.name, why)


def evict(
    registry: Registry, target: Target, eviction: JsonObject, *, dry_run: bool = False
) -> None:
    """Delete a pod if its disruption budget allows (pkg/registry/core/pod/storage/eviction.go).

    Raises:
        ApiError: 400, another name than the path's; 404; 409, a precondition does not hold; 429,
            the budget does not allow it; 500, two budgets hold the pod.
    """
    check_shape(eviction, "Eviction", "policy/v1")
    if (eviction.get("metadata") or {}).get("name", target.name) != target.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    options = DeleteOptions.parse(eviction.get("deleteOptions") or {})
    options = replace(options, dry_run=options.dry_run or dry_run)
    record = registry.find(target)
    check_preconditions(record, target, options)
    if not _is_past_budgets(record.object):
        _spend_budget(registry, target, record, dry_run=options.dry_run)
    if not options.dry_run:
        _mark_disrupted(registry, target)
    # The mark has moved the version on, so a precondition on it has been met already.
    registry.delete(target, replace(options, resource_version=None))


def _is_past_budgets(pod: JsonObject) -> bool:
    phase = part(pod, "status").get("phase")
    going = pod["metadata"].get("deletionTimestamp") is not None
    return going or phase in ("Succeeded", "Failed", "Pending")


def _mark_disrupted(registry: Registry, target: Target) -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    record = registry.find(target)
    pod = clone(record.object)
    set_condition(pod, condition, registry.clock.now())
    if pod != record.object:
        registry.store.replace(PODS, record, pod)


def _spend_budget(registry: Registry, target: Target, record: Record, *, dry_run: bool) -> None:
    budgets = [
        budget
        for budget in registry.store.bucket(PODDISRUPTIONBUDGETS).records(target.namespace)
        if matches_selector(part(budget.object, "spec").get("selector"), labels_of(record.object))
    ]
    if not budgets:
        return
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support."
        )
        raise errors.ApiError(500, "", message)
    budget = budgets[0]
    if not _ready(record.object) and _spares_unready(budget.object):
        return
    _check_budget(budget.object)
    if dry_run:
        return
    spent = clone(budget.object)
    spent["status"]["disruptionsAllowed"] -= 1
    disrupted = spent["status"].setdefault("disruptedPods", {})
    disrupted[target.name] = format_time(registry.clock.now())
    registry.store.replace(PODDISRUPTIONBUDGETS, budget, spent)


def _ready(pod: JsonObject) -> bool:
    condition = find_condition(pod, "Ready")
    return condition is not None and condition.get("status") == "True"


def _spares_unready(budget: JsonObject) -> bool:
    status = part(budget, "status")
    if part(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired: int = status.get("desiredHealthy", 0)
    return 0 < desired <= int(status.get("currentHealthy", 0))


def _check_budget(budget: JsonObject) -> None:
    name, status = budget["metadata"]["name"], part(budget, "status")
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        text = f"The disruption budget {name} is still being processed by the server."
        raise _blocked(10, text)
    if len(status.get("disruptedPods") or {}) > _MAX_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise errors.forbidden(PODDISRUPTIONBUDGETS, name, why)
    if status.get("disruptionsAllowed", 0) < 0:
        why = "pdb disruptions allowed is negative"
        raise errors.forbidden(PODDISRUPTIONBUDGETS, name, why)
    if status.get("disruptionsAllowed", 0) == 0:
        desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        text = (
            f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
        if current > desired:
            text = f"The disruption budget {name} does not allow evicting pods currently"
        raise _blocked(0, text)


def _blocked(retry_after: int, text: str) -> errors.ApiError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    cause = Cause("DisruptionBudget", "", text)
    # Zero is upstream's way to say that it does not know; then no header is sent.
    return errors.too_many_requests(message, retry_after, [cause])


def finalize(registry: Registry, target: Target, body: JsonObject) -> Record:
    """Take finalizers off a namespace that is going; the last one lets it go.

    Raises:
        ApiError: 400, another name; 404; 409, stale.
    """

    def mutate(namespace: JsonObject) -> JsonObject:
        namespace["spec"] = {"finalizers": part(body, "spec").get("finalizers") or []}
        for name in ("uid", "resourceVersion"):
            if value := part(body, "metadata").get(name):
                namespace["metadata"][name] = value
        return namespace

    check_shape(body, "Namespace", "v1")
    return registry.change(target, mutate)


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


def set_scale(
    registry: Registry, target: Target, scale: JsonObject, *, dry_run: bool, manager: str = ""
) -> Record:
    """Set the number of replicas.

    Raises:
        ApiError: 400, no Scale; 404; 409, stale; 422, a number below zero.
    """
    check_shape(scale, "Scale", "autoscaling/v1")
    meta = scale.get("metadata") or {}

    def mutate(workload: JsonObject) -> JsonObject:
        workload["spec"]["replicas"] = part(scale, "spec").get("replicas", 0)
        if meta.get("resourceVersion"):
            workload["metadata"]["resourceVersion"] = meta["resourceVersion"]
        return workload

    return registry.change(
        replace(target, subresource=""), mutate, dry_run=dry_run, manager=manager
    )
