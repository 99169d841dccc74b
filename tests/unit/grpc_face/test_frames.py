"""What is held of messages that are not whole is told from the frames, however the bytes arrive."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.grpc_api.frames import PREFACE, Inbound, Outbound
from tests.harness.faces.http2 import (
    DATA,
    END_STREAM,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    frame,
    message,
)

PADDED = 0x8


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:stop] for start, stop in pairwise(marks)]


def inbound(*frames: bytes, places: tuple[int, ...] = ()) -> Inbound:
    seen = Inbound(lambda: 7.0)
    for piece in cut(PREFACE + b"".join(frames), list(places)):
        seen.feed(piece)
    return seen


def begin(stream: int = 1) -> bytes:
    return frame(HEADERS, 4, stream, b"head")


BODY = message(b"x" * 100)


@pytest.mark.parametrize(
    ("frames", "held"),
    [
        pytest.param([begin(), frame(DATA, 0, 1, BODY)], 0, id="whole"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY[:40])], 40, id="a part"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY[:3])], 3, id="a part of its head"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY + BODY[:9])], 9, id="one and a part"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY[:9]), frame(DATA, 0, 1, BODY[9:])], 0,
                     id="in two frames"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY[:9]), frame(DATA, END_STREAM, 1)], 9,
                     id="the client ends it"),
        pytest.param([begin(), frame(DATA, 0, 1, BODY[:9]), frame(RST_STREAM, 0, 1, bytes(4))], 0,
                     id="the client gives it up"),
        pytest.param([frame(DATA, 0, 1, BODY[:9])], 0, id="in no stream"),
        pytest.param([begin(3), begin(1), frame(DATA, 0, 1, BODY[:9])], 0, id="in an old stream"),
        pytest.param([begin(), frame(DATA, PADDED, 1, b"\x05" + BODY + bytes(5))], 0,
                     id="padding is no message"),
        pytest.param([begin(), frame(DATA, PADDED, 1, b"\x05" + BODY[:9] + bytes(5))], 9,
                     id="a part, padded"),
        pytest.param([begin(), frame(DATA, 0, 1 << 31 | 1, BODY[:9])], 9, id="the reserved bit"),
        pytest.param([begin(), frame(SETTINGS, 0, 0), frame(PING, 0, 0, bytes(8)), begin(3),
                      frame(DATA, 0, 1, BODY[:9]), frame(DATA, 0, 3, BODY[:6])], 15,
                     id="two streams"),
    ],
)  # fmt: skip
@given(places=st.lists(st.integers(0, 1000), max_size=8))
def test_what_is_held(frames: list[bytes], held: int, places: list[int]) -> None:
    seen = inbound(*frames, places=tuple(places))
    assert seen.held == held
    assert (seen.oldest() is None) == (held == 0)


@given(
    sizes=st.lists(st.integers(0, 300), max_size=6),
    frames=st.lists(st.integers(1, 80), min_size=1),
    places=st.lists(st.integers(0, 5000), max_size=20),
)
def test_of_whole_messages_nothing_is_held(
    sizes: list[int], frames: list[int], places: list[int]
) -> None:
    data = b"".join(message(bytes(size)) for size in sizes)
    cuts, position = [begin()], 0
    for size in frames:
        cuts.append(frame(DATA, 0, 1, data[position : position + size]))
        position += size
    seen = inbound(*cuts, frame(DATA, 0, 1, data[position:]), places=tuple(places))
    assert (seen.held, seen.oldest()) == (0, None)


def test_what_comes_after_the_server_has_ended_a_stream_is_not_held() -> None:
    seen = inbound(begin(), frame(DATA, 0, 1, BODY[:9]))
    server = Outbound(seen.end)
    for piece in (b"\0\0\x04\x01\x05\0\0\0\x01he", b"ad"):
        server.feed(piece)
    assert (seen.held, seen.open(), seen.ended) == (0, 0, 1)
    seen.feed(frame(DATA, 0, 1, BODY[9:50]))
    assert seen.held == 0


@given(places=st.lists(st.integers(0, 1000), max_size=8))
def test_streams_that_the_server_ends_are_told(places: list[int]) -> None:
    told: list[int] = []
    server = Outbound(told.append)
    sent = (
        *(frame(SETTINGS, 0, 0), frame(SETTINGS, 1, 0), frame(HEADERS, 4, 1, b"head")),
        *(frame(DATA, 0, 1, BODY), frame(HEADERS, 4 | END_STREAM, 1, b"trailers")),
        *(frame(RST_STREAM, 0, 3, bytes(4)), frame(PING, 1, 0, bytes(8))),
    )
    for piece in cut(b"".join(sent), places):
        server.feed(piece)
    assert told == [1, 3]


def test_streams_are_begun_in_their_order() -> None:
    seen = inbound(begin(1), begin(3), begin(5), frame(RST_STREAM, 0, 1, bytes(4)))
    assert list(seen.begun) == [3, 5]
    assert seen.serve() == 7.0
    seen.end(5)
    assert seen.serve() is None


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_anything_can_be_sent(data: bytes, places: list[int]) -> None:
    seen = Inbound(lambda: 0.0)
    for piece in cut(PREFACE + data, places):
        seen.feed(piece)
    assert 0 <= seen.held <= len(data)
