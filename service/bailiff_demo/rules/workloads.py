"""What runs pods (pkg/apis/apps: defaults and validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.errors import Cause
from bailiff_demo.objects import labels_of
from bailiff_demo.rules.fields import check_count, check_labels, fill
from bailiff_demo.rules.pods import check_pod_spec, default_pod_spec
from bailiff_demo.selectors import chooses, label_selector

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

# The name of the strategy, and what rolling updates get.
_STRATEGIES: dict[str, tuple[str, JsonObject]] = {
    "Deployment": ("strategy", {"maxUnavailable": "25%", "maxSurge": "25%"}),
    "DaemonSet": ("updateStrategy", {"maxUnavailable": 1, "maxSurge": 0}),
    "StatefulSet": ("updateStrategy", {"partition": 0}),
}


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
        strategy["rollingUpdate"] = {**rolling, **strategy.get("rollingUpdate", {})}
    fill(spec, revisionHistoryLimit=10)
    if kind == "Deployment":
        fill(spec, progressDeadlineSeconds=600)
    if kind == "StatefulSet":
        fill(spec, podManagementPolicy="OrderedReady")


def check_workload(workload: JsonObject) -> list[Cause]:
    """Causes against anything of apps/v1."""
    spec = workload["spec"]
    causes = check_count("spec.replicas", spec.get("replicas"))
    labels, field = labels_of(spec["template"]), "spec.template.metadata.labels"
    selector = spec.get("selector")
    if not selector or label_selector(selector) is None:
        causes.append(Cause.required("spec.selector"))
    elif not chooses(selector, labels):
        text = "`selector` does not match template `labels`"
        causes.append(Cause.invalid(field, labels, text))
    causes += check_labels(field, labels)
    return causes + check_pod_spec(spec["template"]["spec"], "spec.template.spec")


def check_workload_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: the selector is fixed."""
    if new["spec"].get("selector") == old["spec"].get("selector"):
        return []
    return [Cause.invalid("spec.selector", new["spec"].get("selector"), "field is immutable")]
