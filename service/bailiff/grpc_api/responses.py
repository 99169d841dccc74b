"""Answers from the core to protobuf.

The answers of a batch are mostly alike: pods with the same tolerations share one `Finding`. So an
answer is put together from two serialised messages, what the pod has of its own and what it shares
with others, which protobuf merges into one.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from bailiff.grpc_api.findings import (
    VERDICTS,
    write_finding,
    write_pod_condition,
    write_reference,
    write_time,
)
from bailiff.grpc_api.wire import wire_class
from bailiff.turns import PODS_A_TURN
from bailiff.v1 import decision_pb2
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.decisions import ChangeSummary, Decision, DecisionChange

T = TypeVar("T")

_Decision = wire_class(decision_pb2.Decision)
_DecisionChange = wire_class(decision_pb2.DecisionChange)
_DecideResponse = wire_class(pb.DecideResponse)
_DecideNodeResponse = wire_class(pb.DecideNodeResponse)
_DecideTaintChangeResponse = wire_class(pb.DecideTaintChangeResponse)
_DecideStreamResponse = wire_class(pb.DecideStreamResponse)


def write_decision(writer: DecisionWriter, decision: Decision) -> bytes:
    """A DecideResponse; DecideNodeTaintsResponse is the same."""
    data: bytes = _DecideResponse(decision=writer.write(decision)).SerializeToString()
    return data


async def write_decisions(writer: DecisionWriter, decisions: Sequence[Decision]) -> bytes:
    """A DecideNodeResponse. Lets others run in between."""
    answers = await write_in_turns(writer.write, decisions)
    data: bytes = _DecideNodeResponse(decisions=answers).SerializeToString()
    return data


async def write_in_turns(write: Callable[[T], bytes], answers: Sequence[T]) -> list[bytes]:
    """Each of many answers, serialised. Lets others run in between."""
    written: list[bytes] = []
    for start in range(0, len(answers), PODS_A_TURN):
        if start:
            await asyncio.sleep(0)
        written += map(write, answers[start : start + PODS_A_TURN])
    return written


async def write_changes(
    after: DecisionWriter, changes: Sequence[DecisionChange], summary: ChangeSummary
) -> bytes:
    """A DecideTaintChangeResponse. Lets others run in between."""
    before = DecisionWriter()
    answers: list[bytes] = []
    for index, change in enumerate(changes, start=1):
        message = _DecisionChange(
            pod=write_reference(change.pod),
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
        self._shared: dict[tuple[object, ...], _Shared] = {}
        self._own = decision_pb2.Decision()
        self._pod = self._own.pod
        self._event = self._own.event

    def write(self, decision: Decision) -> bytes:
        """One decision; it must live until the last one is written."""
        # Findings are shared by identity; the rest is what an answer may add of its own.
        findings, grace = decision.findings, decision.grace_period_seconds
        alone = len(findings) == 1 and grace is None
        node = decision.node
        key = (node, id(findings[0])) if alone else (node, *map(id, findings), grace)
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
        """`pod` and the event's words, by one message that is filled again and again."""
        reference, pod = decision.pod, self._pod
        pod.namespace = reference.namespace
        pod.name = reference.name
        pod.uid = reference.uid
        note = decision.event
        if note is None:
            self._own.ClearField("event")
            self._event = self._own.event
        else:
            self._event.message = note.message
        return self._own.SerializeToString()


def _write_shared(decision: Decision) -> bytes:
    """All but `pod` and the event's words."""
    note = decision.event
    message = _Decision(
        node=decision.node,
        verdict=VERDICTS[decision.verdict],
        evict_at=write_time(decision.evict_at),
        holds_until=write_time(decision.holds_until),
        decided_at=write_time(decision.decided_at),
        decided_by=decision.decided_by,
        reason=decision.reason,
        message=decision.message,
        grace_period_seconds=decision.grace_period_seconds,
        condition=None if decision.condition is None else write_pod_condition(decision.condition),
        event=None if note is None else _event_of_any(note.type, note.reason),
        findings=[write_finding(finding) for finding in decision.findings],
    )
    data: bytes = message.SerializeToString()
    return data


@lru_cache(maxsize=16)  # the events of the systems, not the callers'
def _event_of_any(type_: str, reason: str) -> bytes:
    """An EventNote without words."""
    return decision_pb2.EventNote(type=type_, reason=reason).SerializeToString()


def _summary(summary: ChangeSummary) -> bytes:
    return decision_pb2.ChangeSummary(
        evict_now=summary.evict_now, evict_at=summary.evict_at, keep=summary.keep
    ).SerializeToString()
