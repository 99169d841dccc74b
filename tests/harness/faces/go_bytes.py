"""Bytes as Go's generated marshallers write them: proto2, every non-pointer field, even empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.grpc_api.reading import READERS
from bailiff.v1 import kubernetes_pb2, resource_pb2

if TYPE_CHECKING:
    import msgspec

T = TypeVar("T", bound="msgspec.Struct")

_MESSAGES = {
    **kubernetes_pb2.DESCRIPTOR.message_types_by_name,
    **resource_pb2.DESCRIPTOR.message_types_by_name,
}


def read(kind: type[T], data: bytes) -> T:
    """An object of Kubernetes as the face reads it; RefusedError."""
    message = _MESSAGES[kind.__name__]
    value: T = READERS.of_message(kind, message)(READERS.parser(message)(data))
    return value


def text(number: int, value: str) -> bytes:
    return nested(number, value.encode())


def nested(number: int, *parts: bytes) -> bytes:
    data = b"".join(parts)
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value & (2**64 - 1))


def varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def time(number: int, seconds: int) -> bytes:
    return nested(number, integer(1, seconds), integer(2, 0))


def zero_time(number: int) -> bytes:
    return nested(number)
