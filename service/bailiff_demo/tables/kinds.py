"""The columns of all other kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import JsonObject, find_condition, labels_of, part
from bailiff_demo.tables.columns import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    Cell,
    Column,
    age_of,
    count,
    field,
    labels_text,
    selector_text,
)
from bailiff_demo.tables.pods import PODS

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff_demo.resources import Resource

_ROLE = "node-role.kubernetes.io/"


def _node_status(node: JsonObject, _now: datetime) -> str:
    ready = find_condition(node, "Ready")
    if ready is None:
        words = ["Unknown"]
    else:
        words = ["Ready" if ready.get("status") == "True" else "NotReady"]
    if part(node, "spec").get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: JsonObject, _now: datetime) -> str:
    labels = labels_of(node)
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles.add(labels.get("kubernetes.io/role", ""))
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str) -> Cell:
    def cell(node: JsonObject, _now: datetime) -> str:
        addresses = part(node, "status").get("addresses") or []
        return next((a.get("address", "") for a in addresses if a.get("type") == kind), NONE)

    return cell


def _info(name: str) -> Cell:
    return field("status", "nodeInfo", name, default=UNKNOWN)


def _ready_of(obj: JsonObject, _now: datetime) -> str:
    ready = part(obj, "status").get("readyReplicas", 0)
    return f"{ready}/{part(obj, 'spec').get('replicas', 1)}"


def _containers(name: str) -> Cell:
    def cell(obj: JsonObject, _now: datetime) -> str:
        containers = part(obj, "spec", "template", "spec").get("containers") or []
        return ",".join(str(container.get(name, "")) for container in containers)

    return cell


def _selector(obj: JsonObject, _now: datetime) -> str:
    return selector_text(part(obj, "spec").get("selector"))


def _node_selector(obj: JsonObject, _now: datetime) -> str:
    return labels_text(part(obj, "spec", "template", "spec").get("nodeSelector"))


def _first_seen(event: JsonObject, now: datetime) -> str:
    return age_of(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: JsonObject, now: datetime) -> str:
    if series := event.get("series"):
        return age_of(series.get("lastObservedTime"), now)
    last = event.get("lastTimestamp")
    return age_of(last, now) if last else _first_seen(event, now)


def _about(event: JsonObject, _now: datetime) -> str:
    about = part(event, "involvedObject")
    kind, name = about.get("kind", "").lower(), about.get("name", "")
    return f"{kind}/{name}" if name else kind


def _source(event: JsonObject, _now: datetime) -> str:
    source = part(event, "source")
    component = source.get("component") or event.get("reportingComponent", "")
    host = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {host}" if host else component


def _times(event: JsonObject, _now: datetime) -> int:
    return int(part(event, "series").get("count") or event.get("count") or 1)


def _message(event: JsonObject, _now: datetime) -> str:
    return str(event.get("message", "")).strip()


def _entries(obj: JsonObject, _now: datetime) -> int:
    return len(part(obj, "data")) + len(part(obj, "binaryData"))


def _claim_state(claim: JsonObject, _now: datetime) -> str:
    going = "deletionTimestamp" in claim["metadata"]
    words = ["deleted"] if going else []
    if part(claim, "status").get("allocation") is not None:
        words.append("allocated")
        if part(claim, "status").get("reservedFor"):
            words.append("reserved")
    elif not going:
        words.append("pending")
    return ",".join(words)


def _time_added(rule: JsonObject, now: datetime) -> str:
    added = part(rule, "spec", "taint").get("timeAdded")
    return age_of(added, now) if added else ""


def _budget(name: str) -> Cell:
    return lambda obj, _now: str(part(obj, "spec").get(name, "N/A"))


_CONTAINERS = Column("Containers", _containers("name"), wide=True)
_IMAGES = Column("Images", _containers("image"), wide=True)
_SELECTOR = Column("Selector", _selector, wide=True)

_COLUMNS: dict[str, tuple[Column, ...]] = {
    "pods": PODS,
    "namespaces": (NAME, Column("Status", field("status", "phase")), AGE),
    "nodes": (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        AGE,
        Column("Version", field("status", "nodeInfo", "kubeletVersion")),
        Column("Internal-IP", _address("InternalIP"), wide=True),
        Column("External-IP", _address("ExternalIP"), wide=True),
        Column("OS-Image", _info("osImage"), wide=True),
        Column("Kernel-Version", _info("kernelVersion"), wide=True),
        Column("Container-Runtime", _info("containerRuntimeVersion"), wide=True),
    ),
    "events": (
        Column("Last Seen", _last_seen),
        Column("Type", field("type")),
        Column("Reason", field("reason")),
        Column("Object", _about),
        Column("Subobject", field("involvedObject", "fieldPath"), wide=True),
        Column("Source", _source, wide=True),
        Column("Message", _message),
        Column("First Seen", _first_seen, wide=True),
        Column("Count", _times, type="integer", wide=True),
        Column("Name", field("metadata", "name"), wide=True, format="name"),
    ),
    "configmaps": (NAME, Column("Data", _entries, type="integer"), AGE),
    "secrets": (
        NAME,
        Column("Type", field("type")),
        Column("Data", _entries, type="integer"),
        AGE,
    ),
    "daemonsets.apps": (
        NAME,
        Column("Desired", count("status", "desiredNumberScheduled"), type="integer"),
        Column("Current", count("status", "currentNumberScheduled"), type="integer"),
        Column("Ready", count("status", "numberReady"), type="integer"),
        Column("Up-to-date", count("status", "updatedNumberScheduled"), type="integer"),
        Column("Available", count("status", "numberAvailable"), type="integer"),
        Column("Node Selector", _node_selector),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _SELECTOR,
    ),
    "statefulsets.apps": (NAME, Column("Ready", _ready_of), AGE, _CONTAINERS, _IMAGES),
    "deployments.apps": (
        NAME,
        Column("Ready", _ready_of),
        Column("Up-to-date", count("status", "updatedReplicas"), type="integer"),
        Column("Available", count("status", "availableReplicas"), type="integer"),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _SELECTOR,
    ),
    "replicasets.apps": (
        NAME,
        Column("Desired", count("spec", "replicas"), type="integer"),
        Column("Current", count("status", "replicas"), type="integer"),
        Column("Ready", count("status", "readyReplicas"), type="integer"),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _SELECTOR,
    ),
    "leases.coordination.k8s.io": (NAME, Column("Holder", field("spec", "holderIdentity")), AGE),
    "poddisruptionbudgets.policy": (
        NAME,
        Column("Min Available", _budget("minAvailable")),
        Column("Max Unavailable", _budget("maxUnavailable")),
        Column("Allowed Disruptions", count("status", "disruptionsAllowed"), type="integer"),
        AGE,
    ),
    "priorityclasses.scheduling.k8s.io": (
        NAME,
        Column("Value", count("value"), type="integer"),
        Column("Global-Default", field("globalDefault", default=False), type="boolean"),
        AGE,
        Column("PreemptionPolicy", field("preemptionPolicy")),
    ),
    "resourceslices.resource.k8s.io": (
        NAME,
        Column("Node", field("spec", "nodeName")),
        Column("Driver", field("spec", "driver")),
        Column("Pool", field("spec", "pool", "name")),
        AGE,
    ),
    "resourceclaims.resource.k8s.io": (NAME, Column("State", _claim_state), AGE),
    "devicetaintrules.resource.k8s.io": (
        NAME,
        Column("Key", field("spec", "taint", "key")),
        Column("Value", field("spec", "taint", "value")),
        Column("Effect", field("spec", "taint", "effect")),
        Column("TimeAdded", _time_added),
        AGE,
    ),
}


def columns_of(resource: Resource) -> tuple[Column, ...]:
    """The columns; name and age where a kind has none of its own."""
    return _COLUMNS.get(resource.id, (NAME, AGE))
