"""Answers about devices from the core to protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.grpc_api.findings import VERDICTS, write_reference, write_step, write_time
from bailiff.grpc_api.responses import write_in_turns
from bailiff.grpc_api.wire import wire_class
from bailiff.v1 import decision_pb2, kubernetes_pb2
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from bailiff.decisions import ClaimDecision, DeviceDecisions, DeviceTaintRulePreview
    from bailiff.grpc_api.responses import DecisionWriter
    from bailiff.kinds import Condition

_ClaimDecision = wire_class(decision_pb2.ClaimDecision)
_Condition = wire_class(kubernetes_pb2.Condition)
_DecideDeviceTaintsResponse = wire_class(pb.DecideDeviceTaintsResponse)
_PreviewDeviceTaintRuleResponse = wire_class(pb.PreviewDeviceTaintRuleResponse)


async def write_device_decisions(writer: DecisionWriter, found: DeviceDecisions) -> bytes:
    """A DecideDeviceTaintsResponse. Lets others run in between."""
    message = _DecideDeviceTaintsResponse(
        decisions=await write_in_turns(writer.write, found.decisions),
        claims=await write_in_turns(_claim, found.claims),
    )
    data: bytes = message.SerializeToString()
    return data


async def write_preview(writer: DecisionWriter, found: DeviceTaintRulePreview) -> bytes:
    """A PreviewDeviceTaintRuleResponse. Lets others run in between."""
    message = _PreviewDeviceTaintRuleResponse(
        rule=write_reference(found.rule),
        published_devices=found.published_devices,
        allocated_devices=found.allocated_devices,
        namespaces=found.namespaces,
        decisions=await write_in_turns(writer.write, found.decisions),
        condition=_condition(found.condition),
    )
    data: bytes = message.SerializeToString()
    return data


def _claim(decision: ClaimDecision) -> bytes:
    message = _ClaimDecision(
        claim=write_reference(decision.claim),
        verdict=VERDICTS[decision.verdict],
        evict_at=write_time(decision.evict_at),
        holds_until=write_time(decision.holds_until),
        reasons=decision.reasons,
        trace=[write_step(step) for step in decision.trace],
    )
    data: bytes = message.SerializeToString()
    return data


def _condition(condition: Condition) -> bytes:
    message = _Condition(
        type=condition.type,
        status=condition.status,
        observed_generation=condition.observed_generation,
        last_transition_time=write_time(condition.last_transition_time),
        reason=condition.reason,
        message=condition.message,
    )
    data: bytes = message.SerializeToString()
    return data
