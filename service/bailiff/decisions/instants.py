"""Instants as answers give them: in UTC, as metav1.Time writes them, and writable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

# The first and the last second that RFC 3339 and google.protobuf.Timestamp can write.
START_OF_TIME = datetime(1, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def in_utc(instant: datetime) -> datetime:
    """The same instant in UTC; one that falls outside the writable years is moved to their end.

    `0001-01-01T00:00:00+10:00` is such an instant: it can be read, but has no UTC form.
    """
    if instant.tzinfo is UTC:  # as nearly all are, once decoded: to convert costs more than to ask
        return instant
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        return START_OF_TIME if instant.year == 1 else END_OF_TIME


def later(start: datetime, seconds: int) -> datetime:
    """`start` plus `seconds` (0 or more), in UTC and never after END_OF_TIME.

    Upstream's int64 nanoseconds overflow instead, and then evict at once or never.
    """
    try:
        return later_by(start, timedelta(0, seconds))
    except OverflowError:
        return END_OF_TIME


def later_by(start: datetime, time: timedelta) -> datetime:
    """The same by a time (0 or more) that may have parts of a second."""
    try:
        end = in_utc(start) + time
    except OverflowError:
        return END_OF_TIME
    return min(end, END_OF_TIME)


def moved(instant: datetime, by: timedelta) -> datetime:
    """`instant` later by a time that may be negative, in UTC and within what can be written."""
    try:
        return in_utc(in_utc(instant) + by)
    except OverflowError:
        return START_OF_TIME if by < timedelta(0) else END_OF_TIME
