"""The columns of `kubectl get` (pkg/printers/internalversion): the server makes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bailiff_demo.objects import (
    JsonObject,
    find_condition,
    has_finished,
    is_going,
    is_ready,
    labels_of,
    parse_time,
    part,
)

if TYPE_CHECKING:
    from bailiff_demo.resources import Resource

_NONE = "<none>"
_ROLE = "node-role.kubernetes.io/"

Cell: TypeAlias = Callable[[JsonObject, datetime], Any]


class Column(NamedTuple):
    """One column.

    Attributes:
        name: its head.
        cell: makes a cell from the object and the present.
        type: of the cells.
        wide: shown only by `-o wide`.
    """

    name: str
    cell: Cell
    type: str = "string"
    wide: bool = False

    def definition(self) -> JsonObject:
        """metav1.TableColumnDefinition."""
        kind = {"type": self.type, "format": "name" if self.name == "Name" else ""}
        return {"name": self.name, **kind, "description": "", "priority": int(self.wide)}

    def show(self, obj: JsonObject, now: datetime) -> Any:  # noqa: ANN401 - any JSON value
        """The cell; a status may hold what nobody expects."""
        try:
            return self.cell(obj, now)
        except (AttributeError, KeyError, TypeError, ValueError):
            return "<invalid>"


def age_of(text: str | None, now: datetime) -> str:
    """How long ago that was, for people."""
    instant = parse_time(text)
    return "<unknown>" if instant is None else human_duration((now - instant).total_seconds())


def human_duration(seconds: float) -> str:
    """Two units at most, fewer as it gets longer (apimachinery/pkg/util/duration)."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    for bound, text in (
        (whole < 120, f"{max(whole, 0)}s"),
        (minutes < 10, _two(minutes, "m", whole % 60, "s")),
        (minutes < 180, f"{minutes}m"),
        (hours < 8, _two(hours, "h", minutes % 60, "m")),
        (hours < 48, f"{hours}h"),
        (days < 8, _two(days, "d", hours % 24, "h")),
        (days < 730, f"{days}d"),
        (days < 2920, _two(days // 365, "y", days % 365, "d")),
    ):
        if bound:
            return text
    return f"{days // 365}y"


def _two(major: int, unit: str, minor: int, minor_unit: str) -> str:
    return f"{major}{unit}{minor}{minor_unit}" if minor else f"{major}{unit}"


def _field(*path: str, default: object = "") -> Cell:
    """The value at a path."""

    def cell(obj: JsonObject, _now: datetime) -> object:
        value = part(obj, *path[:-1]).get(path[-1])
        return default if value is None else value

    return cell


def _count(head: str, *path: str) -> Column:
    return Column(head, _field(*path, default=0), type="integer")


def pod_status(pod: JsonObject, _now: datetime | None = None) -> str:
    """One word: the phase, unless a container, a reason or a deletion says more."""
    status = part(pod, "status")
    phase = status.get("phase", "")
    if is_going(pod) and not has_finished(pod):
        return "Terminating"
    scheduled = find_condition(pod, "PodScheduled") or {}
    if scheduled.get("reason") == "SchedulingGated":
        return "SchedulingGated"
    word: str = status.get("reason") or phase
    for container in status.get("containerStatuses") or []:
        state = part(container, "state")
        if "terminated" in state:
            word = part(state, "terminated").get("reason") or "Error"
        word = part(state, "waiting").get("reason") or word
    return word


def _pod_ready(pod: JsonObject, _now: datetime) -> str:
    ready = sum(bool(s.get("ready")) for s in part(pod, "status").get("containerStatuses") or [])
    return f"{ready}/{len(part(pod, 'spec').get('containers') or [])}"


def _restarts(pod: JsonObject, _now: datetime) -> str:
    statuses = part(pod, "status").get("containerStatuses") or []
    return str(sum(int(s.get("restartCount") or 0) for s in statuses))


def _node_status(node: JsonObject, _now: datetime) -> str:
    known = find_condition(node, "Ready") is not None
    word = ("Ready" if is_ready(node) else "NotReady") if known else "Unknown"
    return f"{word},SchedulingDisabled" if part(node, "spec").get("unschedulable") else word


def _roles(node: JsonObject, _now: datetime) -> str:
    roles = [key.removeprefix(_ROLE) for key in labels_of(node) if key.startswith(_ROLE)]
    return ",".join(sorted(roles)) or _NONE


def _ready_of(obj: JsonObject, _now: datetime) -> str:
    ready = part(obj, "status").get("readyReplicas", 0)
    return f"{ready}/{part(obj, 'spec').get('replicas', 1)}"


def _last_seen(event: JsonObject, now: datetime) -> str:
    last = part(event, "series").get("lastObservedTime") or event.get("lastTimestamp")
    return age_of(last or event.get("eventTime") or event.get("firstTimestamp"), now)


def _about(event: JsonObject, _now: datetime) -> str:
    about = part(event, "involvedObject")
    return "/".join(filter(None, (about.get("kind", "").lower(), about.get("name", ""))))


def _entries(obj: JsonObject, _now: datetime) -> int:
    return len(part(obj, "data")) + len(part(obj, "binaryData"))


def _budget(name: str) -> Cell:
    return lambda obj, _now: str(part(obj, "spec").get(name, "N/A"))


def _claim_state(claim: JsonObject, _now: datetime) -> str:
    words = ["deleted"] if is_going(claim) else []
    if part(claim, "status").get("allocation") is not None:
        words.append("allocated")
        if part(claim, "status").get("reservedFor"):
            words.append("reserved")
    return ",".join(words) or "pending"


def _time_added(rule: JsonObject, now: datetime) -> str:
    added = part(rule, "spec", "taint").get("timeAdded")
    return age_of(added, now) if added else ""


_NAME = Column("Name", _field("metadata", "name"))
_AGE = Column("Age", lambda obj, now: age_of(obj["metadata"].get("creationTimestamp"), now))
_READY = Column("Ready", _ready_of)

_COLUMNS: dict[str, tuple[Column, ...]] = {
    "Pod": (
        _NAME,
        Column("Ready", _pod_ready),
        Column("Status", pod_status),
        Column("Restarts", _restarts),
        _AGE,
        Column("IP", _field("status", "podIP", default=_NONE), wide=True),
        Column("Node", _field("spec", "nodeName", default=_NONE), wide=True),
        Column("Nominated Node", _field("status", "nominatedNodeName", default=_NONE), wide=True),
        Column("Readiness Gates", lambda _obj, _now: _NONE, wide=True),
    ),
    "Namespace": (_NAME, Column("Status", _field("status", "phase")), _AGE),
    "Node": (
        _NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        _AGE,
        Column("Version", _field("status", "nodeInfo", "kubeletVersion")),
    ),
    "Event": (
        Column("Last Seen", _last_seen),
        Column("Type", _field("type")),
        Column("Reason", _field("reason")),
        Column("Object", _about),
        Column("Message", lambda event, _now: str(event.get("message", "")).strip()),
    ),
    "ConfigMap": (_NAME, Column("Data", _entries, type="integer"), _AGE),
    "Secret": (
        _NAME,
        Column("Type", _field("type")),
        Column("Data", _entries, type="integer"),
        _AGE,
    ),
    "DaemonSet": (
        _NAME,
        _count("Desired", "status", "desiredNumberScheduled"),
        _count("Current", "status", "currentNumberScheduled"),
        _count("Ready", "status", "numberReady"),
        _count("Up-to-date", "status", "updatedNumberScheduled"),
        _count("Available", "status", "numberAvailable"),
        Column("Node Selector", lambda _obj, _now: _NONE),
        _AGE,
    ),
    "StatefulSet": (_NAME, _READY, _AGE),
    "Deployment": (
        _NAME,
        _READY,
        _count("Up-to-date", "status", "updatedReplicas"),
        _count("Available", "status", "availableReplicas"),
        _AGE,
    ),
    "ReplicaSet": (
        _NAME,
        _count("Desired", "spec", "replicas"),
        _count("Current", "status", "replicas"),
        _count("Ready", "status", "readyReplicas"),
        _AGE,
    ),
    "Lease": (_NAME, Column("Holder", _field("spec", "holderIdentity")), _AGE),
    "PodDisruptionBudget": (
        _NAME,
        Column("Min Available", _budget("minAvailable")),
        Column("Max Unavailable", _budget("maxUnavailable")),
        _count("Allowed Disruptions", "status", "disruptionsAllowed"),
        _AGE,
    ),
    "PriorityClass": (
        _NAME,
        _count("Value", "value"),
        Column("Global-Default", _field("globalDefault", default=False), type="boolean"),
        _AGE,
    ),
    "ResourceSlice": (
        _NAME,
        Column("Node", _field("spec", "nodeName")),
        Column("Driver", _field("spec", "driver")),
        Column("Pool", _field("spec", "pool", "name")),
        _AGE,
    ),
    "ResourceClaim": (_NAME, Column("State", _claim_state), _AGE),
    "DeviceTaintRule": (
        _NAME,
        *(Column(n.title(), _field("spec", "taint", n)) for n in ("key", "value", "effect")),
        Column("TimeAdded", _time_added),
        _AGE,
    ),
}


def columns_of(resource: Resource) -> tuple[Column, ...]:
    """The columns; name and age where a kind has none of its own."""
    return _COLUMNS.get(resource.kind, (_NAME, _AGE))
