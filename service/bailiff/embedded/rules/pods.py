"""Pods (pkg/registry/core/pod/strategy.go, pkg/apis/core/v1/defaults.go and validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import clone
from bailiff.embedded.rules.names import label, subdomain
from bailiff.embedded.rules.quantities import quality_of_service
from bailiff.embedded.rules.tolerations import add_default_tolerations, check_tolerations

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_ONLY_THESE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)


def default_pod_spec(spec: JsonObject) -> None:
    """What a pod spec gets, also inside a template."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    for container in spec.get("containers", []) + spec.get("initContainers", []):
        _default_container(container)
    for volume in spec.get("volumes") or []:
        if len(volume) <= 1:
            volume["emptyDir"] = {}


def _default_container(container: JsonObject) -> None:
    tag = container.get("image", "").rpartition("/")[2].partition(":")[2]
    latest = not tag or tag == "latest"
    container.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("resources", {})
    for port in container.get("ports") or []:
        port.setdefault("protocol", "TCP")


def default_pod(pod: JsonObject) -> None:
    """What a pod gets on every write."""
    spec = pod.setdefault("spec", {})
    default_pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in spec.get("containers", []) + spec.get("initContainers", []):
        resources = container["resources"]
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **resources.get("requests", {})}


def create_pod(pod: JsonObject) -> None:
    """What a new pod gets from the server and its default admission plugins."""
    spec = pod["spec"]
    spec.setdefault("serviceAccountName", "default")
    spec["serviceAccount"] = spec["serviceAccountName"]
    spec.setdefault("priority", _PRIORITIES.get(spec.get("priorityClassName", ""), 0))
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    add_default_tolerations(pod)
    pod["status"] = {"phase": "Pending", "qosClass": quality_of_service(spec)}
    if spec.get("schedulingGates"):
        waiting = "Scheduling is blocked due to non-empty scheduling gates"
        pod["status"]["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": waiting,
                "lastTransitionTime": None,
            }
        ]


def check_pod(pod: JsonObject) -> list[Cause]:
    """Causes against a pod."""
    return check_pod_spec(pod["spec"], "spec")


def check_pod_spec(spec: JsonObject, field: str) -> list[Cause]:
    """Causes against a pod spec, also inside a template."""
    causes = _check_containers(spec, field)
    policy = spec["restartPolicy"]
    if policy not in _RESTART_POLICIES:
        causes.append(Cause.not_supported(f"{field}.restartPolicy", policy, _RESTART_POLICIES))
    if spec["terminationGracePeriodSeconds"] < 0:
        place = f"{field}.terminationGracePeriodSeconds"
        seconds = spec["terminationGracePeriodSeconds"]
        causes.append(Cause.invalid(place, seconds, "must be greater than or equal to 0"))
    node = spec.get("nodeName", "")
    if node and (wrong := subdomain(node)):
        causes.append(Cause.invalid(f"{field}.nodeName", node, wrong))
    return causes + check_tolerations(spec.get("tolerations", []), f"{field}.tolerations")


def _check_containers(spec: JsonObject, field: str) -> list[Cause]:
    if not spec.get("containers"):
        return [Cause.required(f"{field}.containers")]
    causes: list[Cause] = []
    seen: set[str] = set()
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or []):
            place = f"{field}.{kind}[{index}]"
            causes += _check_container(container, place)
            name = container.get("name", "")
            if name in seen:
                causes.append(Cause.duplicate(f"{place}.name", name))
            seen.add(name)
    return causes


def _check_container(container: JsonObject, place: str) -> list[Cause]:
    causes = []
    name = container.get("name", "")
    if not name:
        causes.append(Cause.required(f"{place}.name"))
    elif wrong := label(name):
        causes.append(Cause.invalid(f"{place}.name", name, wrong))
    if not container.get("image"):
        causes.append(Cause.required(f"{place}.image"))
    return causes


def check_pod_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of a pod's spec: almost all of it is fixed."""
    causes = _check_added_tolerations(new["spec"], old["spec"])
    if _fixed_part(new["spec"], old["spec"]) != _fixed_part(old["spec"], old["spec"]):
        causes.append(Cause.forbidden("spec", _ONLY_THESE))
    return causes


def _check_added_tolerations(new: JsonObject, old: JsonObject) -> list[Cause]:
    present = [_without_seconds(t) for t in new.get("tolerations", [])]
    if all(_without_seconds(t) in present for t in old.get("tolerations", [])):
        return []
    text = "existing toleration can not be modified except its tolerationSeconds"
    return [Cause.forbidden("spec.tolerations", text)]


def _without_seconds(toleration: JsonObject) -> JsonObject:
    return {k: v for k, v in toleration.items() if k != "tolerationSeconds" and v}


def _fixed_part(spec: JsonObject, old: JsonObject) -> JsonObject:
    fixed: JsonObject = clone(spec)
    for name in ("tolerations", "activeDeadlineSeconds", "schedulingGates"):
        fixed.pop(name, None)
    if old["terminationGracePeriodSeconds"] < 0 and spec["terminationGracePeriodSeconds"] == 1:
        fixed["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    for container in fixed.get("containers", []) + fixed.get("initContainers", []):
        container.pop("image", None)
    return fixed
