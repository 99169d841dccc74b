"""Lines come out whole, however the network cuts them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster.lines import LineSplitter, LineTooLongError

line = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b" "))


@given(st.lists(line), st.lists(st.integers(0, 60), max_size=30))
def test_any_cut_gives_the_same_lines(lines: list[bytes], lengths: list[int]) -> None:
    stream = io.BytesIO(b"".join(one + b"\n" for one in lines))
    splitter = LineSplitter(1000)
    seen = [one for length in [*lengths, -1] for one in splitter.feed(stream.read(length))]
    assert seen == [one for one in lines if one.strip()]


def test_a_line_without_its_end_is_not_given_out() -> None:
    splitter = LineSplitter(10)
    assert splitter.feed(b"abc") == []
    assert splitter.feed(b"def\ng") == [b"abcdef"]


@pytest.mark.parametrize(
    "chunks", [[b"x" * 11], [b"x" * 11 + b"\n"], [b"x" * 6, b"x" * 6], [b"a\n" + b"x" * 11]]
)
def test_a_line_beyond_the_bound_is_refused(chunks: list[bytes]) -> None:
    splitter = LineSplitter(10)
    with pytest.raises(LineTooLongError, match="10 bytes"):
        list(map(splitter.feed, chunks))


def test_a_line_at_the_bound_is_given_out() -> None:
    assert LineSplitter(10).feed(b"x" * 10 + b"\n") == [b"x" * 10]
