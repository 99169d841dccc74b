"""Pods and nodes from protobuf to `kinds`."""

from __future__ import annotations

from bailiff.grpc_api.meta import read_metadata, read_node_metadata, read_time
from bailiff.grpc_api.wire import Interned, WireMessage, parse, read_all, read_within, wire_class
from bailiff.kinds import (
    Node,
    NodeSpec,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.v1 import kubernetes_pb2

_PodSpec = wire_class(kubernetes_pb2.PodSpec)
_PodStatus = wire_class(kubernetes_pb2.PodStatus)
_PodCondition = wire_class(kubernetes_pb2.PodCondition)
_PodResourceClaim = wire_class(kubernetes_pb2.PodResourceClaim)
_PodResourceClaimStatus = wire_class(kubernetes_pb2.PodResourceClaimStatus)
_PodExtendedResourceClaimStatus = wire_class(kubernetes_pb2.PodExtendedResourceClaimStatus)
_PodSchedulingGroup = wire_class(kubernetes_pb2.PodSchedulingGroup)
_Toleration = wire_class(kubernetes_pb2.Toleration)
_Node = wire_class(kubernetes_pb2.Node)
_NodeSpec = wire_class(kubernetes_pb2.NodeSpec)
_Taint = wire_class(kubernetes_pb2.Taint)


def read_pod(message: WireMessage) -> Pod:
    """A pod.

    Raises:
        MalformedError: a nested message is none.
        FieldError: a value out of bounds.
    """
    spec, status = message.spec, message.status
    return Pod(
        metadata=read_metadata(message.metadata),
        spec=_pod_spec.known(spec) or read_within("spec", _pod_spec, spec),
        status=_pod_status.known(status) or read_within("status", _pod_status, status),
    )


def _convert_pod_spec(data: bytes) -> PodSpec:
    spec = parse(_PodSpec, data)
    return PodSpec(
        node_name=spec.node_name,
        tolerations=tuple(read_all("tolerations", _toleration, spec.tolerations)),
        priority=spec.priority,
        resource_claims=tuple(read_all("resource_claims", _pod_claim, spec.resource_claims)),
        scheduling_group=read_within("scheduling_group", _group, spec.scheduling_group)
        if spec.HasField("scheduling_group")
        else None,
    )


def _convert_pod_claim(data: bytes) -> PodResourceClaim:
    claim = parse(_PodResourceClaim, data)
    template = claim.HasField("resource_claim_template_name")
    return PodResourceClaim(
        name=claim.name,
        resource_claim_name=_claim_name(claim),
        resource_claim_template_name=claim.resource_claim_template_name if template else None,
    )


def _claim_name(message: WireMessage) -> str | None:
    return message.resource_claim_name if message.HasField("resource_claim_name") else None


def _convert_group(data: bytes) -> PodSchedulingGroup:
    group = parse(_PodSchedulingGroup, data)
    has_name = group.HasField("pod_group_name")
    return PodSchedulingGroup(pod_group_name=group.pod_group_name if has_name else None)


def _convert_toleration(data: bytes) -> Toleration:
    toleration = parse(_Toleration, data)
    has_seconds = toleration.HasField("toleration_seconds")
    return Toleration(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        toleration_seconds=toleration.toleration_seconds if has_seconds else None,
    )


def _convert_pod_status(data: bytes) -> PodStatus:
    status = parse(_PodStatus, data)
    made = status.resource_claim_statuses
    extended = status.extended_resource_claim_status
    has_extended = status.HasField("extended_resource_claim_status")
    return PodStatus(
        phase=status.phase,
        conditions=tuple(read_all("conditions", _condition, status.conditions)),
        resource_claim_statuses=tuple(read_all("resource_claim_statuses", _made_claim, made)),
        extended_resource_claim_status=read_within(
            "extended_resource_claim_status", _extended_claim, extended
        )
        if has_extended
        else None,
    )


def _convert_made_claim(data: bytes) -> PodResourceClaimStatus:
    made = parse(_PodResourceClaimStatus, data)
    return PodResourceClaimStatus(name=made.name, resource_claim_name=_claim_name(made))


def _convert_extended_claim(data: bytes) -> PodExtendedResourceClaimStatus:
    extended = parse(_PodExtendedResourceClaimStatus, data)
    return PodExtendedResourceClaimStatus(resource_claim_name=extended.resource_claim_name)


def _convert_condition(data: bytes) -> PodCondition:
    condition = parse(_PodCondition, data)
    changed = condition.last_transition_time
    return PodCondition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=condition.observed_generation,
        last_transition_time=read_time(changed, "last_transition_time") if changed else None,
    )


def _convert_node(data: bytes) -> Node:
    node = parse(_Node, data)
    metadata = read_node_metadata(node.metadata)
    return Node(metadata=metadata, spec=read_within("spec", _node_spec, node.spec))


def _convert_node_spec(data: bytes) -> NodeSpec:
    spec = parse(_NodeSpec, data)
    return NodeSpec(taints=tuple(read_all("taints", read_taint, spec.taints)))


def _convert_taint(data: bytes) -> Taint:
    taint = parse(_Taint, data)
    has_time = taint.HasField("time_added")
    return Taint(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        time_added=read_time(taint.time_added, "time_added") if has_time else None,
    )


_toleration = Interned(_convert_toleration)
_pod_claim = Interned(_convert_pod_claim)
_group = Interned(_convert_group)
_made_claim = Interned(_convert_made_claim)
_extended_claim = Interned(_convert_extended_claim)
_condition = Interned(_convert_condition)
_pod_spec = Interned(_convert_pod_spec)
_pod_status = Interned(_convert_pod_status)
_node_spec = Interned(_convert_node_spec)
read_taint = Interned(_convert_taint)
read_node = Interned(_convert_node)
