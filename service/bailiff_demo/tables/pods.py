"""The columns of pods; what the status column says is the longest story of them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import JsonObject, find_condition, part
from bailiff_demo.tables.columns import AGE, NAME, NONE, Column, age_of, field

if TYPE_CHECKING:
    from datetime import datetime


def _statuses(pod: JsonObject, kind: str = "containerStatuses") -> list[JsonObject]:
    found: list[JsonObject] = part(pod, "status").get(kind) or []
    return found


def _ready(pod: JsonObject, _now: datetime) -> str:
    ready = sum(bool(s.get("ready") and part(s, "state").get("running")) for s in _statuses(pod))
    return f"{ready}/{len(part(pod, 'spec').get('containers') or [])}"


def pod_status(pod: JsonObject, _now: datetime | None = None) -> str:
    """One word: the phase, unless a container, a reason or a deletion says more."""
    status = part(pod, "status")
    phase = status.get("phase", "")
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if phase not in ("Succeeded", "Failed"):
            return "Terminating"
    scheduled = find_condition(pod, "PodScheduled")
    if scheduled and scheduled.get("reason") == "SchedulingGated":
        return "SchedulingGated"
    word: str = status.get("reason") or phase
    return _initializing(pod) or _running(pod, word)


def _initializing(pod: JsonObject) -> str:
    statuses = _statuses(pod, "initContainerStatuses")
    for index, status in enumerate(statuses):
        state = part(status, "state")
        ended = state.get("terminated")
        if ended is not None and not ended.get("exitCode"):
            continue
        if ended is not None:
            return "Init:" + _ended(ended)
        waiting = part(state, "waiting").get("reason", "")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(part(pod, 'spec').get('initContainers') or [])}"
    return ""


def _running(pod: JsonObject, word: str) -> str:
    running = False
    for status in reversed(_statuses(pod)):
        state = part(status, "state")
        if part(state, "waiting").get("reason"):
            word = state["waiting"]["reason"]
        elif "terminated" in state:
            word = _ended(state["terminated"])
        elif status.get("ready") and "running" in state:
            running = True
    if word == "Completed" and running:
        ready = find_condition(pod, "Ready")
        return "Running" if ready and ready.get("status") == "True" else "NotReady"
    return word


def _ended(terminated: JsonObject) -> str:
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _restarts(pod: JsonObject, now: datetime) -> str:
    statuses = _statuses(pod)
    total = sum(int(s.get("restartCount") or 0) for s in statuses)
    ends = [part(s, "lastState", "terminated").get("finishedAt") for s in statuses]
    last = max((end for end in ends if isinstance(end, str)), default="")
    return f"{total} ({age_of(last, now)} ago)" if total and last else str(total)


def _ip(pod: JsonObject, _now: datetime) -> str:
    return str(part(pod, "status").get("podIP") or NONE)


def _gates(pod: JsonObject, _now: datetime) -> str:
    gates = part(pod, "spec").get("readinessGates") or []
    if not gates:
        return NONE
    conditions = [find_condition(pod, gate.get("conditionType", "")) for gate in gates]
    met = sum(
        condition is not None and condition.get("status") == "True" for condition in conditions
    )
    return f"{met}/{len(gates)}"


PODS = (
    NAME,
    Column("Ready", _ready),
    Column("Status", pod_status),
    Column("Restarts", _restarts),
    AGE,
    Column("IP", _ip, wide=True),
    Column("Node", field("spec", "nodeName", default=NONE), wide=True),
    Column("Nominated Node", field("status", "nominatedNodeName", default=NONE), wide=True),
    Column("Readiness Gates", _gates, wide=True),
)
