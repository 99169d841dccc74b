"""What decisions are made of, from the core to protobuf."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.decisions import Verdict
from bailiff.grpc_api.wire import wire_class
from bailiff.v1 import decision_pb2, kubernetes_pb2

if TYPE_CHECKING:
    from bailiff.decisions import (
        DeviceTaintSource,
        Finding,
        ObjectReference,
        TraceStep,
    )
    from bailiff.kinds import PodCondition, Taint, Toleration

_Finding = wire_class(decision_pb2.Finding)
_TraceStep = wire_class(decision_pb2.TraceStep)
_DeviceTaintSource = wire_class(decision_pb2.DeviceTaintSource)
_PodCondition = wire_class(kubernetes_pb2.PodCondition)
_Taint = wire_class(kubernetes_pb2.Taint)
_Toleration = wire_class(kubernetes_pb2.Toleration)

VERDICTS = {verdict: decision_pb2.Verdict.Value(f"VERDICT_{verdict}") for verdict in Verdict}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def write_finding(finding: Finding) -> bytes:
    """A Finding."""
    message = _Finding(
        system=finding.system,
        verdict=VERDICTS[finding.verdict],
        reason=finding.reason,
        message=finding.message,
        evict_at=write_time(finding.evict_at),
        holds_until=write_time(finding.holds_until),
        trace=[write_step(step) for step in finding.trace],
    )
    data: bytes = message.SerializeToString()
    return data


def write_step(step: TraceStep) -> bytes:
    """A TraceStep."""
    message = _TraceStep(
        rule=step.rule,
        outcome=step.outcome,
        message=step.message,
        taint=None if step.taint is None else _taint(step.taint),
        taint_index=step.taint_index,
        toleration=None if step.toleration is None else _toleration(step.toleration),
        toleration_index=step.toleration_index,
        added_at=write_time(step.added_at),
        added_from=step.added_from,
        deadline=write_time(step.deadline),
        device=None if step.device is None else _source(step.device),
    )
    data: bytes = message.SerializeToString()
    return data


def _source(source: DeviceTaintSource) -> bytes:
    published, ruled = source.resource_slice, source.device_taint_rule
    message = _DeviceTaintSource(
        claim=write_reference(source.claim),
        driver=source.driver,
        pool=source.pool,
        device=source.device,
        resource_slice=None if published is None else write_reference(published),
        device_taint_rule=None if ruled is None else write_reference(ruled),
    )
    data: bytes = message.SerializeToString()
    return data


def write_reference(reference: ObjectReference) -> bytes:
    """An ObjectReference."""
    return decision_pb2.ObjectReference(
        namespace=reference.namespace, name=reference.name, uid=reference.uid
    ).SerializeToString()


@lru_cache(maxsize=16)  # the conditions of the systems, not the callers'
def write_pod_condition(condition: PodCondition) -> bytes:
    """A PodCondition."""
    message = _PodCondition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=condition.observed_generation,
        last_transition_time=write_time(condition.last_transition_time),
    )
    data: bytes = message.SerializeToString()
    return data


def _taint(taint: Taint) -> bytes:
    message = _Taint(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        time_added=write_time(taint.time_added),
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
def write_time(instant: datetime | None) -> bytes | None:
    """A google.protobuf.Timestamp; None leaves the field absent."""
    if instant is None:
        return None
    seconds, microseconds = divmod((instant - _EPOCH) // _MICROSECOND, 1_000_000)
    return Timestamp(seconds=seconds, nanos=microseconds * 1000).SerializeToString()
