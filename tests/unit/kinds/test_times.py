"""Instants finer than a microsecond are cut, never rounded, however they are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bailiff.kinds import DecodeError, Pod, Taint, decode, decode_yaml_value, parse_time

LAST = datetime(2026, 1, 1, 0, 0, 0, 999999, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-01-01T00:00:00.9999999Z", LAST),
        ("2026-01-01t00:00:00.99999999999999999999z", LAST),
        ("2026-01-01 01:00:00.9999999+01:00", LAST),
        ("2025-12-31T23:00:00.9999999-0100", LAST),
        ("2026-01-01T00:00:00.999999Z", LAST),
        ("2026-01-01T00:00:00.99999949Z", LAST),
        ("2026-01-01T00:00:00Z", LAST.replace(microsecond=0)),
        ("0001-01-01T00:00:00.9999999Z", datetime(1, 1, 1, 0, 0, 0, 999999, tzinfo=UTC)),
        ("1969-12-31T23:59:59.9999999Z", datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        ("9999-12-31T23:59:59.9999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_what_is_finer_than_a_microsecond_is_cut(written: str, instant: datetime) -> None:
    said = {"timeAdded": written}
    usual = msgspec.json.encode(said)
    slow = msgspec.json.encode(said | {"key": None})
    escaped = usual.replace(b"9", rb"\u0039").replace(b":00.", rb":0\u0030.")
    for data in (usual, slow, escaped):
        assert decode(data, Taint).time_added == instant
    assert decode_yaml_value(said, Taint).time_added == instant
    assert parse_time(written) == instant


@pytest.mark.parametrize(
    "written",
    [
        "soon",
        "2026-W01-1T00:00:00Z",
        "20260101T000000Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.9999999",
        "2026-01-01T00:00:60.9999999Z",
        "0000-01-01T00:00:00Z",
        "1767225600",
        "",
        "\ud800",
    ],
)
def test_what_is_no_instant(written: str) -> None:
    with pytest.raises(ValueError, match=r"datetime|surrogates"):
        parse_time(written)
    with pytest.raises(DecodeError):
        decode_yaml_value({"timeAdded": written}, Taint)


@example("\\u0039", LAST, 5000)
@given(
    st.text(st.sampled_from('\\"u0039.T:Zé/'), max_size=40),
    st.datetimes(timezones=st.just(UTC)),
    st.integers(0, 9999),
)
def test_no_other_text_is_changed(text: str, at: datetime, finer: int) -> None:
    written = f"{at.isoformat(timespec='microseconds')[:26]}{finer:04}Z"
    body = {"metadata": {"labels": {"a": text, written: text}, "creationTimestamp": written}}
    metadata = decode(msgspec.json.encode(body), Pod).metadata
    assert metadata.creation_timestamp == at
    assert metadata.labels["a"] == text
