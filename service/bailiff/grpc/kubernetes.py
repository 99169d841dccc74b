"""Kubernetes objects from protobuf to `kinds`.

An empty time where Go has no pointer (creationTimestamp, lastTransitionTime) is Go's zero time and
counts as not set, as JSON's null does; Go writes nothing at all for an absent pointer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import convert

from bailiff.grpc.errors import FieldError, RefusedError
from bailiff.grpc.wire import (
    Interned,
    WireMessage,
    parse,
    read_all,
    read_within,
    wire_class,
)
from bailiff.kinds import (
    Annotations,
    Node,
    NodeSpec,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.v1 import kubernetes_pb2

_OwnerReference = wire_class(kubernetes_pb2.OwnerReference)
_PodSpec = wire_class(kubernetes_pb2.PodSpec)
_PodStatus = wire_class(kubernetes_pb2.PodStatus)
_PodCondition = wire_class(kubernetes_pb2.PodCondition)
_Toleration = wire_class(kubernetes_pb2.Toleration)
_Node = wire_class(kubernetes_pb2.Node)
_NodeSpec = wire_class(kubernetes_pb2.NodeSpec)
_Taint = wire_class(kubernetes_pb2.Taint)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS = 1_000_000_000
_NO_ANNOTATIONS = Annotations()


def read_pod(message: WireMessage) -> Pod:
    """A pod.

    Raises:
        MalformedError: a nested message is none.
        FieldError: a value out of bounds.
    """
    spec, status = message.spec, message.status
    return Pod(
        metadata=_metadata(message.metadata),
        spec=_pod_spec.known(spec) or read_within("spec", _pod_spec, spec),
        status=_pod_status.known(status) or read_within("status", _pod_status, status),
    )


def read_time(data: bytes, path: str) -> datetime:
    """An instant, to the microsecond: what is finer is cut off.

    Args:
        data: a google.protobuf.Timestamp.
        path: the field that holds it.

    Raises:
        MalformedError: no such message.
        FieldError: not within the years 1 to 9999, or nanos not within 0 to 999999999.
    """
    return _instant.known(data) or read_within(path, _instant, data)


def _convert_time(data: bytes) -> datetime:
    time: Timestamp = parse(Timestamp, data)
    if not 0 <= time.nanos < _NANOS:
        raise FieldError(f"must be within 0 and 999999999, is {time.nanos}", "nanos")
    try:
        return _EPOCH + timedelta(seconds=time.seconds, microseconds=time.nanos // 1000)
    except OverflowError as error:
        raise FieldError(
            "must be within 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, "
            f"is {time.seconds} s from 1970",
            "seconds",
        ) from error


def _metadata(meta: WireMessage, annotations: Annotations = _NO_ANNOTATIONS) -> ObjectMeta:
    created, owners = meta.creation_timestamp, meta.owner_references
    deleted = meta.deletion_timestamp if meta.HasField("deletion_timestamp") else None
    try:
        return ObjectMeta(
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
            resource_version=meta.resource_version,
            generation=meta.generation,
            creation_timestamp=read_time(created, "creation_timestamp") if created else None,
            deletion_timestamp=None
            if deleted is None
            else read_time(deleted, "deletion_timestamp"),
            owner_references=tuple(read_all("owner_references", _owner, owners)) if owners else (),
            annotations=annotations,
        )
    except RefusedError as error:
        error.move_under("metadata")
        raise


def _convert_owner(data: bytes) -> OwnerReference:
    owner = parse(_OwnerReference, data)
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=owner.controller,
    )


def _convert_pod_spec(data: bytes) -> PodSpec:
    spec = parse(_PodSpec, data)
    return PodSpec(
        node_name=spec.node_name,
        tolerations=tuple(read_all("tolerations", _toleration, spec.tolerations)),
    )


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
    conditions = read_all("conditions", _condition, status.conditions)
    return PodStatus(phase=status.phase, conditions=tuple(conditions))


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
    # Only a node's annotations are read; a look into each pod's would cost for nothing.
    annotations = convert(dict(node.metadata.annotations), Annotations)
    metadata = _metadata(node.metadata, annotations)
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


_instant = Interned(_convert_time)
_owner = Interned(_convert_owner)
_toleration = Interned(_convert_toleration)
_condition = Interned(_convert_condition)
_pod_spec = Interned(_convert_pod_spec)
_pod_status = Interned(_convert_pod_status)
_node_spec = Interned(_convert_node_spec)
read_taint = Interned(_convert_taint)
read_node = Interned(_convert_node)
