"""Nodes, namespaces, workloads, budgets, leases, events: what is filled in and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.rules.names import check_labels
from bailiff.embedded.rules.pods import check_pod_spec, default_pod_spec
from bailiff.embedded.rules.tolerations import add_not_ready_taint, check_taints
from bailiff.embedded.selectors import matches_selector

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

_QUARTER = "25%"


def create_node(node: JsonObject) -> None:
    """A new node."""
    add_not_ready_taint(node)
    node.setdefault("status", {})


def check_node(node: JsonObject) -> list[Cause]:
    """Causes against a node."""
    return check_taints(node.get("spec", {}).get("taints", []), "spec.taints")


def check_node_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of a node."""
    before = old.get("spec", {}).get("providerID", "")
    if before and new.get("spec", {}).get("providerID", "") != before:
        return [
            Cause.forbidden(
                "spec.providerID", 'node updates may not change providerID except from "" to valid'
            )
        ]
    return []


def default_namespace(namespace: JsonObject) -> None:
    """Its name as a label, so that selectors can name namespaces."""
    labels = namespace["metadata"].setdefault("labels", {})
    if namespace["metadata"].get("name"):
        labels["kubernetes.io/metadata.name"] = namespace["metadata"]["name"]


def create_namespace(namespace: JsonObject) -> None:
    """A new namespace is active and held by its content."""
    finalizers: list[str] = namespace.setdefault("spec", {}).setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    namespace["status"] = {"phase": "Active"}


def _default_template(workload: JsonObject) -> JsonObject:
    spec: JsonObject = workload.setdefault("spec", {})
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    default_pod_spec(template.setdefault("spec", {}))
    return spec


def default_replicaset(workload: JsonObject) -> None:
    """ReplicaSets."""
    _default_template(workload).setdefault("replicas", 1)


def default_deployment(workload: JsonObject) -> None:
    """Deployments."""
    spec = _default_template(workload)
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", _QUARTER)
        rolling.setdefault("maxSurge", _QUARTER)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def default_daemonset(workload: JsonObject) -> None:
    """DaemonSets."""
    spec = _default_template(workload)
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def default_statefulset(workload: JsonObject) -> None:
    """StatefulSets."""
    spec = _default_template(workload)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {"rollingUpdate": {}})
    strategy.setdefault("type", "RollingUpdate")
    if "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")


def create_workload(workload: JsonObject) -> None:
    """A new workload has no status yet."""
    workload["status"] = {}


def check_workload(workload: JsonObject) -> list[Cause]:
    """Causes against anything of apps/v1."""
    spec = workload["spec"]
    causes = []
    if spec.get("replicas", 0) < 0:
        text = "must be greater than or equal to 0"
        causes.append(Cause.invalid("spec.replicas", spec["replicas"], text))
    labels = spec["template"]["metadata"].get("labels") or {}
    selector = spec.get("selector")
    if not selector or not (selector.get("matchLabels") or selector.get("matchExpressions")):
        causes.append(Cause.required("spec.selector"))
    elif not matches_selector(selector, labels):
        text = "`selector` does not match template `labels`"
        causes.append(Cause.invalid("spec.template.metadata.labels", labels, text))
    causes += check_labels("spec.template.metadata.labels", labels)
    return causes + check_pod_spec(spec["template"]["spec"], "spec.template.spec")


def check_workload_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: the selector is fixed."""
    if new["spec"].get("selector") == old["spec"].get("selector"):
        return []
    selector = new["spec"].get("selector")
    return [Cause.invalid("spec.selector", selector, "field is immutable")]


def create_budget(budget: JsonObject) -> None:
    """A new budget waits for its controller."""
    budget["status"] = {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    }


def check_budget(budget: JsonObject) -> list[Cause]:
    """Causes against a PodDisruptionBudget."""
    spec = budget.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        text = "minAvailable and maxUnavailable cannot be both set"
        return [Cause.invalid("spec", "", text)]
    return [
        Cause.invalid(f"spec.{name}", spec[name], "must be a percentage or a number from 0 on")
        for name in ("minAvailable", "maxUnavailable")
        if spec.get(name) is not None and not _is_count(spec[name])
    ]


def _is_count(value: object) -> bool:
    if isinstance(value, int):
        return value >= 0
    text = str(value)
    return text.endswith("%") and text[:-1].isascii() and text[:-1].isdigit()


def check_lease(lease: JsonObject) -> list[Cause]:
    """Causes against a Lease."""
    spec = lease.get("spec") or {}
    causes = []
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        causes.append(Cause.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    transitions = spec.get("leaseTransitions")
    if transitions is not None and transitions < 0:
        text = "must be greater than or equal to 0"
        causes.append(Cause.invalid("spec.leaseTransitions", transitions, text))
    return causes


def check_event(event: JsonObject) -> list[Cause]:
    """Causes against a core Event: it lives with the object that it speaks of."""
    about = event.get("involvedObject", {}).get("namespace", "")
    namespace = event["metadata"].get("namespace", "")
    if (about and about != namespace) or (
        not about and namespace not in ("default", "kube-system")
    ):
        text = "does not match event.namespace"
        return [Cause.invalid("involvedObject.namespace", about, text)]
    return []


def check_priorityclass_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: the value is fixed."""
    if new.get("value", 0) == old.get("value", 0):
        return []
    return [Cause.forbidden("value", "may not be changed in an update.")]


def default_priorityclass(obj: JsonObject) -> None:
    """PriorityClasses."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def default_secret(obj: JsonObject) -> None:
    """Secrets."""
    obj.setdefault("type", "Opaque")
