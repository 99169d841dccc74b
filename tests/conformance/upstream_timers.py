"""What upstream's taint-eviction controller does with a sequence of changes, quirk by quirk.

A model of pkg/controller/tainteviction of Kubernetes 1.36 as far as its timers go. Each known
quirk can be repaired on its own. With none repaired the model answers as upstream does, with all
of them repaired as Bailiff does; so a step where the two differ comes from the quirks whose repair
leads from one answer to the other, in any sequence there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

import msgspec

from bailiff.decisions import tolerates
from bailiff.kinds import NO_EXECUTE, Node, Pod, Taint

SECOND = 10**9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Bailiff's last deadline, 9999-12-31T23:59:59Z.
LAST = 253402300799 * SECOND


class Repair(Enum):
    """A quirk by the name that docs/differences-from-upstream.md gives its repair."""

    OVERFLOW = "toleration-seconds-overflow"
    CLOCK = "deadline-from-timeAdded"
    MOVES = "deadline-moves"
    ENDED = "ended-pods"
    UID = "uid-guard"
    BINDING = "binding-guard"
    NODE_GONE = "node-gone"
    FALSE_CANCEL = "no-false-cancel"


class Step(msgspec.Struct, rename="camel"):
    """One change: exactly one of these."""

    advance_seconds: int = 0
    node: Node | None = None
    pod: Pod | None = None
    delete_pod: str = ""
    delete_node: str = ""


class Sequence(msgspec.Struct):
    """The input of one case."""

    start: datetime
    steps: list[Step]


@dataclass
class Answer:
    """What one step led to: timers by pod and instant, pods deleted, Events of cancellation."""

    scheduled: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)


@dataclass
class _Timer:
    created_at: int
    fire_at: int


class UpstreamTimers:
    """The controller between two steps. Instants are nanoseconds since 1970."""

    def __init__(self, start: datetime, repairs: Iterable[Repair] = ()) -> None:
        self._now = _instant(start)
        self._repairs = frozenset(repairs)
        self._pods: dict[str, Pod] = {}
        self._bound: dict[str, int] = {}
        self._taints: dict[str, tuple[Taint, ...]] = {}
        self._observed: dict[str, dict[tuple[str, str, str], int]] = {}
        self._timers: dict[str, _Timer] = {}
        self._answer = Answer()

    def step(self, step: Step) -> Answer:
        """Take one change in and tell what stands after it."""
        self._answer = Answer()
        if step.node is not None:
            self._node_updated(step.node)
        elif step.pod is not None:
            self._pod_updated(step.pod)
        elif step.delete_pod:
            self._pod_deleted(step.delete_pod)
        elif step.delete_node:
            self._node_deleted(step.delete_node)
        else:
            self._advance(step.advance_seconds)
        return self._told()

    def _told(self) -> Answer:
        answer = self._answer
        answer.scheduled = {key: _text(timer.fire_at) for key, timer in self._timers.items()}
        answer.deleted.sort()
        answer.cancelled.sort()
        return answer

    # NodeUpdated and handleNodeUpdate.

    def _node_updated(self, node: Node) -> None:
        name = node.metadata.name
        taints = tuple(taint for taint in node.spec.taints if taint.effect == NO_EXECUTE)
        if self._taints.get(name) == taints:
            return
        self._taints[name] = taints
        known = self._observed.get(name, {})
        self._observed[name] = {
            _identity(taint): known.get(_identity(taint), self._now)
            for taint in taints
            if taint.time_added is None
        }
        for key in self._pods_on(name):
            if taints:
                self._process(key)
            else:
                self._cancel(key)

    def _node_deleted(self, name: str) -> None:
        self._taints.pop(name, None)
        self._observed.pop(name, None)
        if Repair.NODE_GONE in self._repairs:
            for key in self._pods_on(name):
                self._cancel(key)

    # PodUpdated and handlePodUpdate.

    def _pod_updated(self, pod: Pod) -> None:
        old = self._pods.get(pod.key)
        self._pods[pod.key] = pod
        if old is None or _tenancy(old) != _tenancy(pod):
            self._bound[pod.key] = self._now
        if old is not None and self._unbinds(old, pod):
            self._timers.pop(pod.key, None)
        elif old is not None and not self._notices(old, pod):
            return
        if self._taints.get(pod.spec.node_name):
            self._process(pod.key)

    def _unbinds(self, old: Pod, new: Pod) -> bool:
        """Whether the timer that runs is known to be for another pod, or another node."""
        if old.metadata.uid != new.metadata.uid:
            return Repair.UID in self._repairs
        return Repair.BINDING in self._repairs and old.spec.node_name != new.spec.node_name

    def _notices(self, old: Pod, new: Pod) -> bool:
        if Repair.ENDED in self._repairs and old.has_ended != new.has_ended:
            return True
        return old.spec != new.spec

    def _pod_deleted(self, key: str) -> None:
        if self._pods.pop(key, None) is None:
            return
        if Repair.FALSE_CANCEL in self._repairs:
            self._timers.pop(key, None)
        else:
            self._cancel(key)

    # processPodOnNode.

    def _process(self, key: str) -> None:
        pod = self._pods[key]
        if Repair.ENDED in self._repairs and pod.has_ended:
            self._timers.pop(key, None)
            return
        clocks = self._clocks(pod)
        if clocks is None:
            if Repair.FALSE_CANCEL not in self._repairs:
                self._cancel(key)
            self._delete(key)
            return
        fire_at = self._fire_at(key, clocks)
        if fire_at is None:
            self._cancel(key)
        else:
            self._schedule(key, fire_at)

    def _clocks(self, pod: Pod) -> list[tuple[int, int]] | None:
        """When each taint's time starts to run, and its seconds; None if one is not tolerated."""
        clocks = []
        for taint in self._taints[pod.spec.node_name]:
            used = next((t for t in pod.spec.tolerations if tolerates(t, taint)), None)
            if used is None:
                return None
            if used.toleration_seconds is not None:
                start = max(self._added(pod.spec.node_name, taint), self._bound[pod.key])
                clocks.append((start, used.toleration_seconds))
        return clocks

    def _added(self, node: str, taint: Taint) -> int:
        if taint.time_added is not None:
            return _instant(taint.time_added)
        return self._observed[node][_identity(taint)]

    def _fire_at(self, key: str, clocks: list[tuple[int, int]]) -> int | None:
        """When it is due; None never. Any instant that is past means now."""
        if not clocks:
            return None
        least = min(seconds for _, seconds in clocks)
        if least <= 0:
            return 0
        if Repair.CLOCK not in self._repairs:
            clocks = [(self._since(key), least)]
        spans = [(start, self._nanoseconds(seconds)) for start, seconds in clocks]
        return min([min(start + span, LAST) for start, span in spans if span >= 0], default=None)

    def _since(self, key: str) -> int:
        timer = self._timers.get(key)
        if timer is not None and Repair.MOVES in self._repairs:
            return timer.created_at
        return self._now

    def _nanoseconds(self, seconds: int) -> int:
        span = seconds * SECOND
        return span if Repair.OVERFLOW in self._repairs else (span + 2**63) % 2**64 - 2**63

    def _schedule(self, key: str, fire_at: int) -> None:
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = _Timer(self._now, fire_at)
        elif timer.created_at < self._now and Repair.MOVES not in self._repairs:
            return
        elif timer.created_at == self._now and Repair.FALSE_CANCEL not in self._repairs:
            self._answer.cancelled.append(key)
        timer.fire_at = fire_at
        if fire_at <= self._now:
            self._delete(key)

    # The timed workers.

    def _advance(self, seconds: int) -> None:
        self._now += seconds * SECOND
        for key in [key for key, timer in self._timers.items() if timer.fire_at <= self._now]:
            self._delete(key)

    def _cancel(self, key: str) -> None:
        if self._timers.pop(key, None) is not None:
            self._answer.cancelled.append(key)

    def _delete(self, key: str) -> None:
        self._timers.pop(key, None)
        del self._pods[key]
        self._answer.deleted.append(key)

    def _pods_on(self, node: str) -> list[str]:
        return [key for key, pod in self._pods.items() if pod.spec.node_name == node]


def replay(sequence: Sequence, repairs: Iterable[Repair] = ()) -> list[Answer]:
    """The model's answer to each step."""
    timers = UpstreamTimers(sequence.start, repairs)
    return [timers.step(step) for step in sequence.steps]


def _identity(taint: Taint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect


def _tenancy(pod: Pod) -> tuple[str, str]:
    return pod.metadata.uid, pod.spec.node_name


def _instant(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1) * 1000


def _text(instant: int) -> str:
    """As Go writes it: no trailing zeros in the fraction, no fraction if there is none."""
    seconds, fraction = divmod(instant, SECOND)
    text = (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{fraction:09}".rstrip("0") + "Z" if fraction else f"{text}Z"
