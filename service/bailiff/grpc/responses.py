"""Answers from the core to protobuf.

The answers of a batch are mostly alike: pods with the same tolerations share one `Finding`. So an
answer is put together from two serialised messages, what the pod has of its own and what it shares
with others, which protobuf merges into one.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.decisions import Verdict
from bailiff.grpc.requests import PODS_A_TURN
from bailiff.grpc.wire import wire_class
from bailiff.v1 import decision_pb2, kubernetes_pb2
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.decisions import (
        ChangeSummary,
        Decision,
        DecisionChange,
        Finding,
        ObjectReference,
        TraceStep,
    )
    from bailiff.kinds import PodCondition, Taint, Toleration

_Decision = wire_class(decision_pb2.Decision)
_DecisionChange = wire_class(decision_pb2.DecisionChange)
_Finding = wire_class(decision_pb2.Finding)
_TraceStep = wire_class(decision_pb2.TraceStep)
_DecideResponse = wire_class(pb.DecideResponse)
_DecideNodeResponse = wire_class(pb.DecideNodeResponse)
_DecideTaintChangeResponse = wire_class(pb.DecideTaintChangeResponse)
_DecideStreamResponse = wire_class(pb.DecideStreamResponse)
_PodCondition = wire_class(kubernetes_pb2.PodCondition)
_Taint = wire_class(kubernetes_pb2.Taint)
_Toleration = wire_class(kubernetes_pb2.Toleration)

_VERDICTS = {verdict: decision_pb2.Verdict.Value(f"VERDICT_{verdict}") for verdict in Verdict}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def write_decision(writer: DecisionWriter, decision: Decision) -> bytes:
    """A DecideResponse; DecideNodeTaintsResponse is the same."""
    data: bytes = _DecideResponse(decision=writer.write(decision)).SerializeToString()
    return data


async def write_decisions(writer: DecisionWriter, decisions: Sequence[Decision]) -> bytes:
    """A DecideNodeResponse. Lets others run in between."""
    answers: list[bytes] = []
    for start in range(0, len(decisions), PODS_A_TURN):
        if start:
            await asyncio.sleep(0)
        answers += map(writer.write, decisions[start : start + PODS_A_TURN])
    data: bytes = _DecideNodeResponse(decisions=answers).SerializeToString()
    return data


async def write_changes(
    after: DecisionWriter, changes: Sequence[DecisionChange], summary: ChangeSummary
) -> bytes:
    """A DecideTaintChangeResponse. Lets others run in between."""
    before = DecisionWriter()
    answers: list[bytes] = []
    for index, change in enumerate(changes, start=1):
        message = _DecisionChange(
            pod=_reference(change.pod),
            before=before.write(change.before),
            after=after.write(change.after),
        )
        answers.append(message.SerializeToString())
        if index % PODS_A_TURN == 0:
            await asyncio.sleep(0)
    data: bytes = _DecideTaintChangeResponse(
        changes=answers, summary=_summary(summary)
    ).SerializeToString()
    return data


def write_stream_answer(request_id: str, answer: bytes) -> bytes:
    """A DecideStreamResponse around a DecideNodeResponse."""
    data: bytes = _DecideStreamResponse(request_id=request_id, answer=answer).SerializeToString()
    return data


def write_stream_error(request_id: str, status: Status) -> bytes:
    """A DecideStreamResponse with an error."""
    message = _DecideStreamResponse(request_id=request_id, error=status.SerializeToString())
    data: bytes = message.SerializeToString()
    return data


class _Shared:
    """What several decisions have in common, serialised, and how many they are."""

    __slots__ = ("count", "data", "system", "verdict")

    def __init__(self, decision: Decision) -> None:
        self.data = _write_shared(decision)
        self.verdict = decision.verdict
        self.system = decision.decided_by
        self.count = 0


class DecisionWriter:
    """Serialises the decisions of one answer, and counts them."""

    def __init__(self) -> None:
        self._shared: dict[int | tuple[int | None, ...], _Shared] = {}
        self._own = decision_pb2.Decision()
        self._pod = self._own.pod
        self._event = self._own.event

    def write(self, decision: Decision) -> bytes:
        """One decision; it must live until the last one is written."""
        # Findings are shared by identity; the rest is what an answer may add of its own.
        findings, grace = decision.findings, decision.grace_period_seconds
        alone = len(findings) == 1 and grace is None
        key = id(findings[0]) if alone else (*map(id, findings), grace)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared(decision)
        shared.count += 1
        return self._write_own(decision) + shared.data

    def tally(self) -> Iterator[tuple[str, str, int]]:
        """Verdict, deciding system and number of the decisions written."""
        for shared in self._shared.values():
            yield shared.verdict, shared.system, shared.count

    def _write_own(self, decision: Decision) -> bytes:
        """`pod` and `event`, by one message that is filled again and again."""
        reference, pod = decision.pod, self._pod
        pod.namespace = reference.namespace
        pod.name = reference.name
        pod.uid = reference.uid
        note = decision.event
        if note is None:
            self._own.ClearField("event")
            self._event = self._own.event
        else:
            event = self._event
            event.type = note.type
            event.reason = note.reason
            event.message = note.message
        return self._own.SerializeToString()


def _write_shared(decision: Decision) -> bytes:
    """All but `pod` and `event`."""
    message = _Decision(
        node=decision.node,
        verdict=_VERDICTS[decision.verdict],
        evict_at=_time(decision.evict_at),
        holds_until=_time(decision.holds_until),
        decided_at=_time(decision.decided_at),
        decided_by=decision.decided_by,
        reason=decision.reason,
        message=decision.message,
        grace_period_seconds=decision.grace_period_seconds,
        condition=None if decision.condition is None else _condition(decision.condition),
        findings=[_finding(finding) for finding in decision.findings],
    )
    data: bytes = message.SerializeToString()
    return data


def _finding(finding: Finding) -> bytes:
    message = _Finding(
        system=finding.system,
        verdict=_VERDICTS[finding.verdict],
        reason=finding.reason,
        message=finding.message,
        evict_at=_time(finding.evict_at),
        holds_until=_time(finding.holds_until),
        trace=[_step(step) for step in finding.trace],
    )
    data: bytes = message.SerializeToString()
    return data


def _step(step: TraceStep) -> bytes:
    message = _TraceStep(
        rule=step.rule,
        outcome=step.outcome,
        message=step.message,
        taint=None if step.taint is None else _taint(step.taint),
        taint_index=step.taint_index,
        toleration=None if step.toleration is None else _toleration(step.toleration),
        toleration_index=step.toleration_index,
        added_at=_time(step.added_at),
        added_from=step.added_from,
        deadline=_time(step.deadline),
    )
    data: bytes = message.SerializeToString()
    return data


def _reference(reference: ObjectReference) -> bytes:
    return decision_pb2.ObjectReference(
        namespace=reference.namespace, name=reference.name, uid=reference.uid
    ).SerializeToString()


def _summary(summary: ChangeSummary) -> bytes:
    return decision_pb2.ChangeSummary(
        evict_now=summary.evict_now, evict_at=summary.evict_at, keep=summary.keep
    ).SerializeToString()


@lru_cache(maxsize=16)  # the conditions of the systems, not the callers'
def _condition(condition: PodCondition) -> bytes:
    message = _PodCondition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=condition.observed_generation,
        last_transition_time=_time(condition.last_transition_time),
    )
    data: bytes = message.SerializeToString()
    return data


def _taint(taint: Taint) -> bytes:
    message = _Taint(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        time_added=_time(taint.time_added),
    )
    data: bytes = message.SerializeToString()
    return data


def _toleration(toleration: Toleration) -> bytes:
    message = _Toleration(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        toleration_seconds=toleration.toleration_seconds,
    )
    data: bytes = message.SerializeToString()
    return data


@lru_cache(maxsize=256)  # one answer names its few instants several times
def _time(instant: datetime | None) -> bytes | None:
    if instant is None:
        return None
    seconds, microseconds = divmod((instant - _EPOCH) // _MICROSECOND, 1_000_000)
    return Timestamp(seconds=seconds, nanos=microseconds * 1000).SerializeToString()
