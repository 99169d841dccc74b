"""DeletePods, SetPodTerminationReason and MarkPodsNotReady, done by what our core says.

Upstream's functions decide and write in one go. Here the core decides, and `World` writes: what the
API server answers to each write is in the case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from bailiff.decisions import Options, Verdict
from bailiff.decisions.joining import combine
from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.judging import NodeLossRound
from bailiff.decisions.node_loss.needs import daemon_set_of
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.decisions.node_loss.words import NODE_NOT_READY, unresponsive
from bailiff.kinds import Node, NodeMeta, Pod
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.node_status import NodeCondition, NodeStatus

Json = dict[str, Any]

NOW = datetime(2025, 1, 2, tzinfo=UTC)
LOST = NodeCondition(type="Ready", status="Unknown", last_transition_time=NOW)
# Upstream is told which nodes are lost, and has no time of its own there.
AT_ONCE = NodeLossSettings(after=0.0)
AS_UPSTREAM = Options(evict_ended_pods=True)
_REFUSED = {
    "Conflict": 'Operation cannot be fulfilled on pods "{}": injected',
    "InternalError": "Internal error occurred: injected",
    "NotFound": 'pods "{}" not found',
    "Forbidden": 'pods "{}" is forbidden: injected',
    "TooManyRequests": "injected",
}


@dataclass
class World:
    """What the API server answers, and what has been written.

    Attributes:
        case: its input.
        deleted: pods whose delete was taken.
        attempts: pods whose delete was asked for.
        events: in their order.
        updates: of status, in their order.
    """

    case: Json
    deleted: list[str] = field(default_factory=list)
    attempts: list[str] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    updates: list[Json] = field(default_factory=list)

    def refusal(self, pod: Pod, verb: str) -> tuple[str, str]:
        """Reason and message of the API server's refusal; empty: it takes the write."""
        faults = (
            one["reason"]
            for one in self.case["faults"]
            if (one["pod"], one["verb"]) == (pod.key, verb)
        )
        absent = "NotFound" if pod.key in self.case["absentFromAPI"] else ""
        reason = next(faults, absent)
        return reason, _REFUSED[reason].format(pod.metadata.name) if reason else ""

    def update_status(self, pod: Pod, update: Json) -> tuple[str, str]:
        """Write a pod's status."""
        reason, message = self.refusal(pod, "updateStatus")
        self.updates.append({"pod": pod.key, **update, "error": message or None})
        return reason, message

    def delete(self, pod: Pod) -> tuple[str, str]:
        """Delete a pod."""
        self.attempts.append(pod.key)
        refused = self.refusal(pod, "delete")
        if not refused[0]:
            self.deleted.append(pod.key)
        return refused

    def record(self, kind: str, uid: str, note: Any) -> None:
        """Record an Event."""
        told = {"type": note.type, "reason": note.reason, "message": note.message}
        self.events.append({"object": kind, "objectUID": uid, **told})

    def answer(self, errors: list[str]) -> Json:
        return {
            "deleted": self.deleted,
            "deleteAttempts": self.attempts,
            "events": self.events,
            "statusUpdates": self.updates,
            "error": _joined(errors),
        }


def _joined(errors: list[str]) -> str | None:
    """As utilerrors.NewAggregate puts them."""
    unique = list(dict.fromkeys(errors))
    if not unique:
        return None
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


@dataclass(frozen=True)
class Judged:
    """A case as our core sees it."""

    case: Json
    pods: tuple[Pod, ...]
    round: NodeLossRound

    def goes(self, pod: Pod) -> bool:
        return self.round.of(pod).verdict is Verdict.EVICT_NOW


def judge(case: Json) -> Judged:
    pods = tuple(msgspec.convert(case["pods"], list[Pod]))
    node = Node(
        metadata=NodeMeta(name=case["nodeName"], uid=case["nodeUID"]),
        status=NodeStatus(conditions=(LOST,)),
    )
    sets = tuple(msgspec.convert(case["daemonSets"], list[DaemonSet]))
    facts = NodeLossFacts(settings=AT_ONCE, daemon_sets=sets)
    return Judged(case, pods, NodeLossRound(node, pods, facts, NOW, AS_UPSTREAM))


def answer_delete_pods(case: Json) -> Json:
    if case["op"] == "SetPodTerminationReason":
        return _set_reason(case)
    judged, world = judge(case), World(case)
    for note in judged.round.report.events if case["pods"] else ():
        world.record(f"Node/{case['nodeName']}", case["nodeUID"], note)
    conflicts: list[str] = []
    remaining = False
    for pod in judged.pods:
        if pod.spec.node_name != case["nodeName"]:
            continue
        if conflict := _mark(world, judged, pod):
            conflicts.append(conflict)
            continue
        reason, message = _delete(world, judged, pod) if judged.goes(pod) else ("Stays", "")
        if message and reason != "NotFound":
            return {"remaining": False, **world.answer([message])}
        remaining = remaining or pod.is_terminating or not reason
    return {"remaining": remaining and not conflicts, **world.answer(conflicts)}


def _mark(world: World, judged: Judged, pod: Pod) -> str:
    """Write why the pod is lost; returns the error that is collected, empty: none."""
    if not _is_among(judged.round.report.to_mark, pod):
        return ""
    reason, message = world.update_status(pod, _reasoned(judged.case, pod))
    if reason != "Conflict":
        return ""
    meta = pod.metadata
    named = f"{meta.name}_{meta.namespace}({meta.uid})"
    return f'update status failed for pod "{named}": {message}'


def _delete(world: World, judged: Judged, pod: Pod) -> tuple[str, str]:
    """Announce the delete as the decision has it, and ask for it."""
    decision = combine(pod, judged.case["nodeName"], (judged.round.of(pod),), NOW)
    world.record(f"Pod/{pod.key}", pod.metadata.uid, decision.event)
    return world.delete(pod)


def _reasoned(case: Json, pod: Pod) -> Json:
    message = unresponsive(case["nodeName"], pod.metadata.name)
    return {"reason": AT_ONCE.reason.value, "message": message}


def _set_reason(case: Json) -> Json:
    # It is handed a pod to mark, wherever that runs.
    there = {"nodeName": case["nodeName"]}
    pods = [pod | {"spec": pod["spec"] | there} for pod in case["pods"]]
    judged, world = judge(case | {"pods": pods}), World(case)
    errors = []
    for pod in judged.pods:
        if _is_among(judged.round.report.to_mark, pod):
            _, message = world.update_status(pod, _reasoned(case, pod))
            errors += [message] if message else []
    return world.answer(errors)


def answer_mark_pods_not_ready(case: Json) -> Json:
    judged, world = judge(case), World(case)
    errors = []
    for pod in judged.pods:
        if not _is_among(judged.round.report.to_mark_not_ready, pod):
            continue
        told = {"reason": pod.status.reason, "message": "", "ready": "False"}
        reason, message = world.update_status(pod, told)
        if reason == "NotFound":
            continue
        errors += [message] if reason else []
        world.record(f"Pod/{pod.key}", pod.metadata.uid, NODE_NOT_READY)
    return world.answer(errors)


def _is_among(references: Any, pod: Pod) -> bool:
    meta = pod.metadata
    return any((one.namespace, one.name) == (meta.namespace, meta.name) for one in references)


def comparable_marks(expect: Json) -> Json:
    """Without the message, of which the case's pods tell nothing."""
    updates = [one | {"message": ""} for one in expect["statusUpdates"]]
    return expect | {"statusUpdates": updates}


def has_deletion_timestamp_alone(case: Json) -> bool:
    """A pod is being deleted, and does not say how long it has."""
    return any(
        "deletionTimestamp" in pod["metadata"]
        and pod["metadata"].get("deletionGracePeriodSeconds") is None
        for pod in case["pods"]
    )


def has_pod_of_daemon_set_by_one_rule_only(case: Json) -> bool:
    """The pod's controller and the selectors of DaemonSets say different things of it."""
    sets = tuple(msgspec.convert(case["daemonSets"], list[DaemonSet]))
    for pod in msgspec.convert(case["pods"], list[Pod]):
        unowned = replace(pod, metadata=replace(pod.metadata, owner_references=()))
        if bool(daemon_set_of(pod, sets)) is not bool(daemon_set_of(unowned, sets)):
            return True
    return False
