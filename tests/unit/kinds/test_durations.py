"""Durations as Go reads them."""

from __future__ import annotations

import pytest

from bailiff.kinds.durations import parse_go_duration

SECOND = 10**9
READ = {
    "0": 0,
    "-0": 0,
    "10s": 10 * SECOND,
    "+10s": 10 * SECOND,
    "-1m30s": -90 * SECOND,
    "1h2m3s": 3723 * SECOND,
    "1.5h": 5400 * SECOND,
    ".5s": SECOND // 2,
    "1h1h": 7200 * SECOND,
    "1us": 1000,
    "1µs": 1000,  # the micro sign
    "1μs": 1000,  # noqa: RUF001 - the Greek letter, which Go takes too
    "1ns": 1,
    "0.3ns": 0,
}


@pytest.mark.parametrize("text", READ)
def test_as_go_reads_it(text: str) -> None:
    assert parse_go_duration(text) == READ[text]


@pytest.mark.parametrize(
    "text", ["", "-", "5", "1d", "1x", " 1s", "1s ", "s", ".s", "1e3s", "1h-1m", "99999999h", "1" * 99]
)
def test_what_go_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        parse_go_duration(text)
