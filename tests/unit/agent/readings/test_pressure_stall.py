"""Stalls, as the kernel tells them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.pressure_stall import stalls_in, stalls_of
from bailiff.kinds.stats import StallAverages, StallInformation
from tests.unit.agent.readings.hosts import STALLS

_SOME = b"some avg10=1.50 avg60=2.25 avg300=100.00 total=985697648\n"


def test_both_lines_are_read() -> None:
    assert stalls_of(STALLS.encode()) == StallInformation(
        some=StallAverages(avg10=1.5, avg60=2.25, avg300=3.0),
        full=StallAverages(avg10=0.5, avg60=0.25, avg300=0.1),
    )


def test_an_old_kernel_says_of_the_cpu_only_some() -> None:
    assert stalls_of(_SOME) == StallInformation(
        some=StallAverages(avg10=1.5, avg60=2.25, avg300=100.0)
    )


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        b"some avg10=0.00 avg60=0.00 total=0\n",
        b"some avg10=nan avg60=0.00 avg300=0.00\n",
        b"some avg10=inf avg60=0.00 avg300=0.00\n",
        b"some avg10=-1.00 avg60=0.00 avg300=0.00\n",
        b"some avg10=100.01 avg60=0.00 avg300=0.00\n",
        b"some avg10=1_0 avg60=0.00 avg300=0.00\n",
        b"some avg10=1e1 avg60=0.00 avg300=0.00\n",
        b"some avg10= avg60=0.00 avg300=0.00\n",
        _SOME + b"full avg10=x avg60=0.00 avg300=0.00\n",
    ],
)
def test_what_is_malformed_is_not_measured(text: bytes) -> None:
    assert stalls_of(text) is None


def test_no_file_is_not_measured(tmp_path: Path) -> None:
    assert stalls_in(None) is None
    assert stalls_in(str(tmp_path / "memory.pressure")) is None


@given(st.binary(max_size=100), st.binary(max_size=20))
def test_any_bytes_are_read_or_not(text: bytes, word: bytes) -> None:
    stalls_of(text)
    found = stalls_of(b"some avg10=" + word + b" avg60=0.0 avg300=0.0 " + text)
    assert found is None or 0 <= found.some.avg10 <= 100
