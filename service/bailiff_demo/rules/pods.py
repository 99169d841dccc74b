"""Pods (pkg/registry/core/pod/strategy.go, pkg/apis/core/v1/defaults.go and validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import NO_EXECUTE
from bailiff.kinds.names import SUBDOMAIN_RULE, is_dns_subdomain
from bailiff_demo.errors import Cause
from bailiff_demo.objects import clone
from bailiff_demo.rules.fields import (
    NODE_EFFECTS,
    check_count,
    check_duplicates,
    check_key,
    check_label_name,
    check_one_of,
    check_value,
    fill,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.objects import JsonObject

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
# What the admission plugin DefaultTolerationSeconds adds, for 300 s each.
_DEFAULTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_DEFAULT_SECONDS = 300
_ONLY_THESE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)


def _containers(spec: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or []):
            yield f"{kind}[{index}]", container


def default_pod_spec(spec: JsonObject) -> None:
    """What a pod spec gets, also inside a template."""
    fill(spec, restartPolicy="Always", dnsPolicy="ClusterFirst", schedulerName="default-scheduler")
    fill(spec, terminationGracePeriodSeconds=30)
    for _, container in _containers(spec):
        _default_container(container)


def _default_container(container: JsonObject) -> None:
    tag = container.get("image", "").rpartition("/")[2].partition(":")[2]
    latest = tag in ("", "latest")
    fill(container, imagePullPolicy="Always" if latest else "IfNotPresent", resources={})
    for port in container.get("ports") or []:
        fill(port, protocol="TCP")


def default_pod(pod: JsonObject) -> None:
    """What a pod gets on every write."""
    spec = pod.setdefault("spec", {})
    default_pod_spec(spec)
    for _, container in _containers(spec):
        resources = container["resources"]
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def create_pod(pod: JsonObject) -> None:
    """What a new pod gets from the server and its admission plugins."""
    spec = pod["spec"]
    fill(spec, serviceAccountName="default", preemptionPolicy="PreemptLowerPriority")
    spec["serviceAccount"] = spec["serviceAccountName"]
    pod["status"] = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        condition["message"] = "Scheduling is blocked due to non-empty scheduling gates"
        pod["status"]["conditions"] = [condition]


def add_default_tolerations(pod: JsonObject) -> None:
    """The admission plugin DefaultTolerationSeconds; kube-apiserver runs it on updates, too."""
    tolerations: list[JsonObject] = pod["spec"].setdefault("tolerations", [])
    for key in _DEFAULTS:
        if not any(_speaks_of(toleration, key) for toleration in tolerations):
            added = {"key": key, "operator": "Exists", "effect": NO_EXECUTE}
            tolerations.append({**added, "tolerationSeconds": _DEFAULT_SECONDS})


def _speaks_of(toleration: JsonObject, key: str) -> bool:
    effect = toleration.get("effect", "")
    return toleration.get("key", "") in (key, "") and effect in (NO_EXECUTE, "")


def check_pod(pod: JsonObject) -> list[Cause]:
    """Causes against a pod."""
    return check_pod_spec(pod["spec"], "spec")


def check_pod_spec(spec: JsonObject, field: str) -> list[Cause]:
    """Causes against a pod spec, also inside a template."""
    causes = [] if spec.get("containers") else [Cause.required(f"{field}.containers")]
    for place, container in _containers(spec):
        causes += _check_container(container, f"{field}.{place}")
    for kind in ("initContainers", "containers"):
        names = [container.get("name", "") for container in spec.get(kind) or []]
        causes += check_duplicates(f"{field}.{kind}", names, ".name")
    causes += check_one_of(f"{field}.restartPolicy", spec["restartPolicy"], _RESTART_POLICIES)
    grace = "terminationGracePeriodSeconds"
    causes += check_count(f"{field}.{grace}", spec[grace])
    node = spec.get("nodeName")
    if node and not is_dns_subdomain(node):
        causes.append(Cause.invalid(f"{field}.nodeName", node, SUBDOMAIN_RULE))
    return causes + check_tolerations(spec.get("tolerations") or [], f"{field}.tolerations")


def _check_container(container: JsonObject, place: str) -> list[Cause]:
    name = container.get("name", "")
    missing = [] if container.get("image") else [Cause.required(f"{place}.image")]
    if not name:
        return [Cause.required(f"{place}.name"), *missing]
    return [*check_label_name(f"{place}.name", name), *missing]


def check_tolerations(tolerations: list[JsonObject], field: str) -> list[Cause]:
    """Causes against a pod's tolerations (pkg/apis/core/validation: ValidateTolerations)."""
    causes: list[Cause] = []
    for index, toleration in enumerate(tolerations):
        place = f"{field}[{index}]"
        causes += _check_key_and_seconds(toleration, place)
        causes += _check_operator(toleration, f"{place}.operator")
        if effect := toleration.get("effect", ""):
            causes += check_one_of(f"{place}.effect", effect, NODE_EFFECTS)
    return causes


def _check_key_and_seconds(toleration: JsonObject, place: str) -> list[Cause]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    effect = toleration.get("effect", "")
    causes = check_key(f"{place}.key", key) if key else []
    if not key and operator != "Exists":
        text = (
            "operator must be Exists when `key` is empty, which means "
            '"match all values and all keys"'
        )
        causes.append(Cause.invalid(f"{place}.operator", operator, text))
    if toleration.get("tolerationSeconds") is not None and effect != NO_EXECUTE:
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        causes.append(Cause.invalid(f"{place}.effect", effect, text))
    return causes


def _check_operator(toleration: JsonObject, field: str) -> list[Cause]:
    value, operator = toleration.get("value", ""), toleration.get("operator", "")
    if operator in ("Equal", ""):
        return check_value(field, value)
    if operator != "Exists":
        # Lt and Gt, too: their gate TaintTolerationComparisonOperators is off by default.
        return [Cause.not_supported(field, operator, ("Equal", "Exists"))]
    text = "value must be empty when `operator` is 'Exists'"
    return [Cause.invalid(field, value, text)] if value else []


def check_pod_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of a pod's spec: almost all of it is fixed."""
    present = [_without_seconds(t) for t in new["spec"].get("tolerations") or []]
    kept = [_without_seconds(t) in present for t in old["spec"].get("tolerations") or []]
    causes = []
    if not all(kept):
        text = "existing toleration can not be modified except its tolerationSeconds"
        causes.append(Cause.forbidden("spec.tolerations", text))
    if _fixed_part(new["spec"]) != _fixed_part(old["spec"]):
        causes.append(Cause.forbidden("spec", _ONLY_THESE))
    return causes


def _without_seconds(toleration: JsonObject) -> JsonObject:
    return {k: v for k, v in toleration.items() if k != "tolerationSeconds" and v}


def _fixed_part(spec: JsonObject) -> JsonObject:
    fixed: JsonObject = clone(spec)
    for name in ("tolerations", "activeDeadlineSeconds", "schedulingGates"):
        fixed.pop(name, None)
    for _, container in _containers(fixed):
        container.pop("image", None)
        container.pop("imagePullPolicy", None)
    return fixed
