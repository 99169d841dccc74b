"""Bytes as Go's generated marshallers write them: proto2, every non-pointer field, even empty."""

from __future__ import annotations


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
