"""Instants to google.protobuf.Timestamp and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.decisions.instants import END_OF_TIME, START_OF_TIME, in_utc
from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.wire import Interned, parse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)
_NANOS = 1_000_000_000
# Seconds; no offset is longer.
_DAY = 86_400


def _convert(data: bytes) -> datetime:
    time: Timestamp = parse(Timestamp, data)
    if not 0 <= time.nanos < _NANOS:
        raise FieldError(f"must be within 0 and 999999999, is {time.nanos}", "nanos")
    try:
        return _EPOCH + timedelta(seconds=time.seconds, microseconds=time.nanos // 1000)
    except OverflowError as error:
        return _beyond(time.seconds, error)


def _beyond(seconds: int, error: OverflowError) -> datetime:
    """The nearest instant that can be written, for one that REST's callers can write.

    With another offset `9999-12-31T23:59:59-10:00` is in the year 9999 (`in_utc`).
    """
    for end in (START_OF_TIME, END_OF_TIME):
        if abs(seconds - (end - _EPOCH) // _SECOND) <= _DAY:
            return end
    raise FieldError(
        f"must be within 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, is {seconds} s from 1970",
        "seconds",
    ) from error


# A google.protobuf.Timestamp as an instant, to the microsecond: what is finer is cut off. Raises
# MalformedError where it is none, FieldError where it is more than a day outside of the years 1 to
# 9999 or its nanos not within 0 to 999999999.
read_time = Interned(_convert)


@lru_cache(maxsize=256)  # one answer names its few instants several times
def write_time(instant: datetime | None) -> bytes | None:
    """A google.protobuf.Timestamp; None leaves the field absent.

    What a kubelet's summary tells with an offset may have no UTC form, see `in_utc`.
    """
    if instant is None:
        return None
    seconds, microseconds = divmod((in_utc(instant) - _EPOCH) // _MICROSECOND, 1_000_000)
    return Timestamp(seconds=seconds, nanos=microseconds * 1000).SerializeToString()
