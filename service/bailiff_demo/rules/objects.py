"""Nodes, namespaces, workloads, budgets, events: what is filled in and refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bailiff_demo.errors import Cause, quote
from bailiff_demo.objects import labels_of, part
from bailiff_demo.rules.fields import NODE_EFFECTS, check_count, check_labels, check_taint, fill
from bailiff_demo.rules.pods import check_pod_spec, default_pod_spec
from bailiff_demo.selectors import chooses, label_selector

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
# The name of the strategy, and what rolling updates get.
_STRATEGIES: dict[str, tuple[str, JsonObject]] = {
    "Deployment": ("strategy", {"maxUnavailable": "25%", "maxSurge": "25%"}),
    "DaemonSet": ("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
    "StatefulSet": ("updateStrategy", {"partition": 0}),
}


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


def default_namespace(namespace: JsonObject) -> None:
    """Its name as a label, so that selectors can name namespaces."""
    labels = namespace["metadata"].setdefault("labels", {})
    if namespace["metadata"].get("name"):
        labels["kubernetes.io/metadata.name"] = namespace["metadata"]["name"]


def create_namespace(namespace: JsonObject) -> None:
    """A new namespace is active and held by its content."""
    namespace["spec"] = {"finalizers": ["kubernetes"]}
    namespace["status"] = {"phase": "Active"}


def default_workload(workload: JsonObject) -> None:
    """What anything of apps/v1 gets on every write."""
    kind, spec = workload["kind"], workload.setdefault("spec", {})
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    default_pod_spec(template.setdefault("spec", {}))
    if kind != "DaemonSet":
        fill(spec, replicas=1)
    if kind == "ReplicaSet":
        return
    name, rolling = _STRATEGIES[kind]
    strategy = spec.setdefault(name, {})
    fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {**rolling, **part(strategy, "rollingUpdate")}
    fill(spec, revisionHistoryLimit=10)
    if kind == "StatefulSet":
        fill(spec, podManagementPolicy="OrderedReady")


def check_workload(workload: JsonObject) -> list[Cause]:
    """Causes against anything of apps/v1."""
    spec = workload["spec"]
    causes = check_count("spec.replicas", spec.get("replicas"))
    labels, field = labels_of(spec["template"]), "spec.template.metadata.labels"
    if not spec.get("selector") or label_selector(spec["selector"]) is None:
        causes.append(Cause.required("spec.selector"))
    elif not chooses(spec["selector"], labels):
        text = "`selector` does not match template `labels`"
        causes.append(Cause.invalid(field, labels, text))
    causes += check_labels(field, labels)
    return causes + check_pod_spec(spec["template"]["spec"], "spec.template.spec")


def check_workload_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: the selector is fixed."""
    if new["spec"].get("selector") == old["spec"].get("selector"):
        return []
    return [Cause.invalid("spec.selector", new["spec"].get("selector"), "field is immutable")]


def create_budget(budget: JsonObject) -> None:
    """A new budget waits for its controller."""
    counts = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
    budget["status"] = dict.fromkeys(counts, 0)


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


def check_budget_status(new: JsonObject, _old: JsonObject) -> list[Cause]:
    """Causes against a budget's status."""
    allowed = part(new, "status").get("disruptionsAllowed")
    return check_count("status.disruptionsAllowed", allowed)


def check_event(event: JsonObject) -> list[Cause]:
    """Causes against an Event: it lives with the object that it speaks of."""
    about = part(event, "involvedObject").get("namespace", "")
    allowed = (about,) if about else ("default", "kube-system")
    if event["metadata"].get("namespace", "") in allowed:
        return []
    return [Cause.invalid("involvedObject.namespace", about, "does not match event.namespace")]


def default_secret(obj: JsonObject) -> None:
    """Secrets."""
    fill(obj, type="Opaque")
