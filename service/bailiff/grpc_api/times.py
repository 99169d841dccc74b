"""Instants to google.protobuf.Timestamp and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.wire import Interned, parse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NANOS = 1_000_000_000


def _convert(data: bytes) -> datetime:
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


# A google.protobuf.Timestamp as an instant, to the microsecond: what is finer is cut off. Raises
# MalformedError where it is none, FieldError where it is not within the years 1 to 9999 or its
# nanos not within 0 to 999999999.
read_time = Interned(_convert)


@lru_cache(maxsize=256)  # one answer names its few instants several times
def write_time(instant: datetime | None) -> bytes | None:
    """A google.protobuf.Timestamp; None leaves the field absent."""
    if instant is None:
        return None
    seconds, microseconds = divmod((instant - _EPOCH) // _MICROSECOND, 1_000_000)
    return Timestamp(seconds=seconds, nanos=microseconds * 1000).SerializeToString()
