"""What every Kubernetes object carries, from protobuf to `kinds`.

An empty time where Go has no pointer (creationTimestamp, lastTransitionTime) is Go's zero time and
counts as not set, as JSON's null does; Go writes nothing at all for an absent pointer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import convert
from msgspec.structs import asdict

from bailiff.grpc_api.errors import FieldError, RefusedError
from bailiff.grpc_api.wire import Interned, WireMessage, parse, read_all, read_within, wire_class
from bailiff.kinds import (
    Annotations,
    Condition,
    DecodeError,
    FieldsV1,
    ManagedFieldsEntry,
    NodeMeta,
    ObjectMeta,
    OwnerReference,
    decode,
)
from bailiff.v1 import kubernetes_pb2

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OwnerReference = wire_class(kubernetes_pb2.OwnerReference)
_Entry = wire_class(kubernetes_pb2.ObjectMeta.LabelsEntry)
_ManagedFieldsEntry = wire_class(kubernetes_pb2.ManagedFieldsEntry)
_FieldsV1 = wire_class(kubernetes_pb2.FieldsV1)
_Condition = wire_class(kubernetes_pb2.Condition)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS = 1_000_000_000
_NO_ANNOTATIONS = Annotations()
# How a map's entry begins: the tag of its key, and for a known annotation all of the key.
_KEY = b"\x0a"
_KNOWN_ANNOTATIONS = tuple(
    _KEY + bytes([len(name)]) + name.encode() for name in Annotations.__struct_encode_fields__
)
_NO_LABELS: Mapping[str, str] = {}


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


def read_metadata(meta: WireMessage) -> ObjectMeta:
    """The identity of an object.

    Args:
        meta: an ObjectMeta.

    Raises:
        RefusedError: malformed, or out of bounds; with its path from the object's root.
    """
    created, owners, labels = meta.creation_timestamp, meta.owner_references, meta.labels
    noted = meta.annotations
    deleted = meta.deletion_timestamp if meta.HasField("deletion_timestamp") else None
    try:
        return ObjectMeta(
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
            resource_version=meta.resource_version,
            generation=meta.generation,
            # The short way first: this is read for every pod.
            creation_timestamp=_instant.known(created) or read_time(created, "creation_timestamp")
            if created
            else None,
            deletion_timestamp=None
            if deleted is None
            else read_time(deleted, "deletion_timestamp"),
            owner_references=tuple(read_all("owner_references", _owner, owners)) if owners else (),
            labels=_read_map("labels", labels) if labels else _NO_LABELS,
            annotations=_read_annotations(noted) if noted else _NO_ANNOTATIONS,
        )
    except RefusedError as error:
        error.move_under("metadata")
        raise


def read_node_metadata(meta: WireMessage) -> NodeMeta:
    """The identity of a node, with its managedFields; errors as `read_metadata`."""
    identity = read_metadata(meta)
    entries = meta.managed_fields
    try:
        managed = tuple(read_all("managed_fields", _managed, entries)) if entries else ()
    except RefusedError as error:
        error.move_under("metadata")
        raise
    return NodeMeta(**asdict(identity), managed_fields=managed)


def _read_annotations(entries: Sequence[bytes]) -> Annotations:
    """Those annotations that a rule reads; errors as `read_metadata`."""
    known = [entry for entry in entries if _may_be_known(entry)]
    return convert(_read_map("annotations", known), Annotations) if known else _NO_ANNOTATIONS


def _may_be_known(entry: bytes) -> bool:
    """Whether a rule may read this annotation, without parsing what may be long.

    Go writes the key first, and so do all whose keys begin an entry; others are looked at in full.
    """
    return entry.startswith(_KNOWN_ANNOTATIONS) or not entry.startswith(_KEY)


def _read_map(path: str, entries: Sequence[bytes]) -> dict[str, str]:
    return dict(read_all(path, _entry, entries))


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


def _convert_owner(data: bytes) -> OwnerReference:
    owner = parse(_OwnerReference, data)
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=owner.controller,
    )


def _convert_entry(data: bytes) -> tuple[str, str]:
    entry = parse(_Entry, data)
    return entry.key, entry.value


def _convert_condition(data: bytes) -> Condition:
    condition = parse(_Condition, data)
    changed = condition.last_transition_time
    return Condition(
        type=condition.type,
        status=condition.status,
        observed_generation=condition.observed_generation,
        last_transition_time=read_time(changed, "last_transition_time") if changed else None,
        reason=condition.reason,
        message=condition.message,
    )


def _convert_managed(data: bytes) -> ManagedFieldsEntry:
    entry = parse(_ManagedFieldsEntry, data)
    raw = parse(_FieldsV1, entry.fields_v1).raw
    try:
        fields = decode(raw, FieldsV1) if raw else FieldsV1()
    except DecodeError as error:
        raise FieldError(error.reason, "fields_v1.raw") from error
    return ManagedFieldsEntry(
        time=read_time(entry.time, "time") if entry.HasField("time") else None, fields_v1=fields
    )


_instant = Interned(_convert_time)
_owner = Interned(_convert_owner)
_entry = Interned(_convert_entry)
_managed = Interned(_convert_managed)
read_condition = Interned(_convert_condition)
