"""Nodes, namespaces, budgets, leases, events: what is filled in and refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bailiff_demo.errors import Cause, quote
from bailiff_demo.objects import part
from bailiff_demo.rules.fields import NODE_EFFECTS, check_count, check_taint, fill

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_COUNTS = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")


def clear_status(obj: JsonObject) -> None:
    """A new object has no status yet."""
    obj["status"] = {}


def create_node(node: JsonObject) -> None:
    """A new node starts as not ready (the admission plugin TaintNodesByCondition)."""
    taints: list[JsonObject] = node.setdefault("spec", {}).setdefault("taints", [])
    if not any(_NOT_READY.items() <= taint.items() for taint in taints):
        taints.append(dict(_NOT_READY))
    node.setdefault("status", {})


def check_node(node: JsonObject) -> list[Cause]:
    """Causes against a node."""
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(part(node, "spec").get("taints") or []):
        place = f"spec.taints[{index}]"
        causes += check_taint(taint, place, NODE_EFFECTS)
        identity = taint.get("key", ""), taint.get("effect", "")
        if identity in seen:
            shown = f'{{"key":{quote(identity[0])},"effect":{quote(identity[1])}}}'
            text = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
            causes.append(Cause("FieldValueDuplicate", place, text))
        seen.add(identity)
    return causes


def check_node_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of a node."""
    before, after = (part(node, "spec").get("providerID", "") for node in (old, new))
    if before in ("", after):
        return []
    text = 'node updates may not change providerID except from "" to valid'
    return [Cause.forbidden("spec.providerID", text)]


def default_namespace(namespace: JsonObject) -> None:
    """Its name as a label, so that selectors can name namespaces."""
    labels = namespace["metadata"].setdefault("labels", {})
    if namespace["metadata"].get("name"):
        labels["kubernetes.io/metadata.name"] = namespace["metadata"]["name"]


def create_namespace(namespace: JsonObject) -> None:
    """A new namespace is active and held by its content."""
    namespace["spec"] = {"finalizers": ["kubernetes"]}
    namespace["status"] = {"phase": "Active"}


def create_budget(budget: JsonObject) -> None:
    """A new budget waits for its controller."""
    budget["status"] = dict.fromkeys(_COUNTS, 0)


def check_budget(budget: JsonObject) -> list[Cause]:
    """Causes against a PodDisruptionBudget."""
    spec = part(budget, "spec")
    given = [name for name in ("minAvailable", "maxUnavailable") if name in spec]
    if len(given) > 1:
        text = "minAvailable and maxUnavailable cannot be both set"
        return [Cause.invalid("spec", "", text)]
    return [
        Cause.invalid(f"spec.{name}", spec[name], "must be a percentage or a number from 0 on")
        for name in given
        if not re.fullmatch(r"[0-9]{1,9}%?", str(spec[name]))
    ]


def check_lease(lease: JsonObject) -> list[Cause]:
    """Causes against a Lease."""
    spec = part(lease, "spec")
    return [
        *check_count("spec.leaseDurationSeconds", spec.get("leaseDurationSeconds"), 1),
        *check_count("spec.leaseTransitions", spec.get("leaseTransitions")),
    ]


def check_event(event: JsonObject) -> list[Cause]:
    """Causes against an Event: it lives with the object that it speaks of."""
    about = part(event, "involvedObject").get("namespace", "")
    allowed = (about,) if about else ("default", "kube-system")
    if event["metadata"].get("namespace", "") in allowed:
        return []
    return [Cause.invalid("involvedObject.namespace", about, "does not match event.namespace")]


def check_priorityclass_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: the value is fixed."""
    if new.get("value", 0) == old.get("value", 0):
        return []
    return [Cause.forbidden("value", "may not be changed in an update.")]


def default_priorityclass(obj: JsonObject) -> None:
    """PriorityClasses."""
    fill(obj, preemptionPolicy="PreemptLowerPriority")


def default_secret(obj: JsonObject) -> None:
    """Secrets."""
    fill(obj, type="Opaque")
