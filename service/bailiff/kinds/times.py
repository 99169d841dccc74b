"""Instants as callers write them, cut to the microsecond: nothing counts before it is there.

msgspec rounds what is finer, so that half a microsecond before a deadline would be the deadline.
Python's instants hold microseconds, as protobuf's are read by the gRPC face.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from datetime import datetime

# Seven digits after a point. A backslash tells that characters of a time may be escaped.
_FINE = re.compile(rb"\.\d{7}").search
_ESCAPED = re.compile(rb"\\u00(?:2[0bBdDeE]|3[0-9aA]|5[4aA]|7[4aA])").search
# One escape, whatever it stands for, so that an escaped backslash is not taken for the next one's.
_ESCAPE = re.compile(rb"\\(?:u00(2[0bBdDeE]|3[0-9aA]|5[4aA]|7[4aA])|.)", re.DOTALL)
_TIME = re.compile(rb'("\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d\.\d{6})\d+(?=(?:[Zz]|[+-]\d\d:?\d\d)")')


def has_fine_times(data: bytes) -> bool:
    """Whether JSON may hold times of more than six digits after the point: about 0.4 ns a byte."""
    return _FINE(data) is not None or (b"\\" in data and _ESCAPED(data) is not None)


def with_cut_times(data: bytes) -> bytes:
    """The same JSON with times of at most six digits after the point. What is none stays none."""
    if b"\\" in data:
        data = _ESCAPE.sub(_unescaped, data)
    return _TIME.sub(rb"\1", data)


def parse_time(text: str) -> datetime:
    """An instant as a field of an object may hold it, of the type Time.

    Args:
        text: RFC 3339 with an offset, in the years 1 to 9999.

    Raises:
        ValueError: it is none; the message says what is missing.
    """
    written = msgspec.json.encode(text)
    try:
        return msgspec.json.decode(with_cut_times(written), type=Time)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return found[0] if code is None else bytes((int(code, 16),))
