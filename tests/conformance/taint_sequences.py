"""Sequences of changes put to the worker's own timers, and what explains a different answer.

The worker's evaluator, mirror and table of pending evictions run as they are, on a clock by hand.
Around them stands a cluster that does as it is told: every delete succeeds, and every object
carries what an API server always writes, which the cases leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import msgspec
from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions import Options
from bailiff.decisions.text import describe_time
from bailiff.kinds import Node, Pod, PodCondition
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.states import State
from tests.conformance.upstream_timers import Answer, Repair, Sequence, Step, replay
from tests.harness.evaluating import Evaluating

Json = dict[str, Any]

OPTIONS = Options(explain=False)


class HandClock:
    """Time that moves when told."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self.passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed

    def latest(self) -> datetime:
        return self.now()

    def elapsed(self) -> float:
        return self.passed


class WorkerTimers:
    """The worker between two steps, and the cluster around it."""

    def __init__(self, start: datetime) -> None:
        self._clock = HandClock(start)
        self._worker = Evaluating(self._clock, OPTIONS)
        self._pending = self._worker.pending
        self._worker.tell_node(Replaced((), "1"))
        self._worker.tell_pod(Replaced((), "1"))
        self._pods: dict[str, Pod] = {}
        self._nodes: dict[str, Node] = {}
        self._answer = Answer()

    def step(self, step: Step) -> Answer:
        """Take one change in and tell what stands after it."""
        self._answer = Answer()
        self._worker.gone_back_on.clear()
        self._change(step)
        self._work()
        self._advance(step.advance_seconds)
        return self._told()

    def _told(self) -> Answer:
        answer = self._answer
        answer.cancelled.extend(gone.pod.key for gone, _ in self._worker.gone_back_on)
        for eviction in self._pending:
            # Nothing runs between two steps, and what is done has left: any other state shows.
            waits = eviction.state is State.WAITING
            shown = describe_time(eviction.deadline) if waits else eviction.state.value
            answer.scheduled[eviction.pod.key] = shown
        answer.deleted.sort()
        answer.cancelled.sort()
        return answer

    def _change(self, step: Step) -> None:
        if step.node is not None:
            self._nodes[step.node.metadata.name] = step.node
            self._worker.tell_node(Changed(step.node))
        elif step.pod is not None:
            pod = self._pods[step.pod.key] = self._as_served(step.pod)
            self._worker.tell_pod(Changed(pod))
        elif step.delete_pod in self._pods:
            self._worker.tell_pod(Deleted(self._pods.pop(step.delete_pod)))
        elif step.delete_node in self._nodes:
            self._worker.tell_node(Deleted(self._nodes.pop(step.delete_node)))

    def _as_served(self, pod: Pod) -> Pod:
        """With the time it was made, and the time it was bound to its node."""
        old, now = self._pods.get(pod.key), self._clock.now()
        same = old is not None and old.metadata.uid == pod.metadata.uid
        made = old.metadata.creation_timestamp if old is not None and same else now
        conditions: tuple[PodCondition, ...] = ()
        if old is not None and same and old.spec.node_name == pod.spec.node_name:
            conditions = old.status.conditions
        elif pod.spec.node_name:
            bound = PodCondition(type="PodScheduled", status="True", last_transition_time=now)
            conditions = (bound,)
        metadata = replace(pod.metadata, creation_timestamp=made)
        return replace(pod, metadata=metadata, status=replace(pod.status, conditions=conditions))

    def _advance(self, seconds: int) -> None:
        """Let time pass from one timer to the next, as it does for the executor."""
        end = self._clock.passed + seconds
        while (due := self._pending.next_due()) is not None and due <= end:
            self._clock.passed = due
            self._work()
        self._clock.passed = end

    def _work(self) -> None:
        while True:
            self._worker.through()
            eviction = self._pending.take()
            if eviction is None:
                return
            self._carry_out(eviction)

    def _carry_out(self, eviction: Eviction) -> None:
        current = self._pods.get(eviction.pod.key)
        if current is None or current.metadata.uid != eviction.uid:
            self._pending.settle_over(eviction, "gone")
            return
        self._pending.settle_over(eviction, "deleted")
        self._answer.deleted.append(current.key)
        self._worker.tell_pod(Deleted(self._pods.pop(current.key)))


def answer_taint_sequence(case: Json) -> Json:
    """The worker's answer to each step."""
    sequence = msgspec.convert(case, Sequence)
    worker = WorkerTimers(sequence.start)
    return {"steps": [asdict(worker.step(step)) for step in sequence.steps]}


def as_observable(expect: Json) -> Json:
    """What upstream answered, without `createdAt`.

    That is when a timer's object was made. Bailiff's timers have no such instant that would count:
    a deadline follows from taints, binding and tolerations alone, and stands in `scheduled`.
    """
    kept = ("scheduled", "deleted", "cancelled")
    return {"steps": [{name: step[name] for name in kept} for step in expect["steps"]]}


def explain_taint_sequence(case: Json, answer: Json, expect: Json) -> list[str]:
    """The repairs that lead from upstream's answer to ours, as few as will do for each step.

    None at all unless both answers are accounted for to the last step: upstream's by the model as
    it is, ours by the model with everything repaired.
    """
    sequence = msgspec.convert(case, Sequence)
    ours, theirs = answer["steps"], expect["steps"]
    if _told(sequence, ()) != theirs or _told(sequence, tuple(Repair)) != ours:
        return []
    unexplained = {index for index, step in enumerate(ours) if step != theirs[index]}
    names: set[str] = set()
    for repairs in _from_few_to_all():
        told = _told(sequence, repairs)
        explained = {index for index in unexplained if told[index] == ours[index]}
        if explained:
            names.update(repair.value for repair in repairs)
        unexplained -= explained
        if not unexplained:
            break
    return sorted(names)


def _from_few_to_all() -> Iterator[tuple[Repair, ...]]:
    for count in range(1, len(Repair) + 1):
        yield from combinations(Repair, count)


def _told(sequence: Sequence, repairs: tuple[Repair, ...]) -> list[Json]:
    return [asdict(step) for step in replay(sequence, repairs)]
