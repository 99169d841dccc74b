"""What is held of messages that are not whole is told from the frames, however the bytes arrive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.grpc_api.frames import PREFACE, FramingError, Inbound, Outbound
from bailiff.grpc_api.pacing import MOST_CALLS, MOST_FRAMES, Pacing
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
    seen = Inbound(paced())
    for piece in cut(PREFACE + b"".join(frames), list(places)):
        assert seen.feed(piece, 7.0) == len(piece)
    return seen


def paced() -> Pacing:
    return Pacing(lambda: 0.0, later)


def later(_seconds: float, what: Callable[[], None]) -> None:
    """Time passes at once."""
    what()


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


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([begin(2)], id="a server's number"),
        pytest.param([begin(0x7FFFFFFE)], id="the highest of a server"),
        pytest.param([begin(3), begin(1)], id="descending"),
        pytest.param([begin(5), frame(RST_STREAM, 0, 5, bytes(4)), begin(5)], id="twice"),
    ],
)
def test_streams_that_grpcio_might_count_otherwise_are_refused(frames: list[bytes]) -> None:
    with pytest.raises(FramingError):
        inbound(*frames)


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
    seen.feed(frame(DATA, 0, 1, BODY[9:50]), 8.0)
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


CALLS = [*range(1, 4 * MOST_CALLS, 2)]
ASKED = b"".join(begin(stream) + frame(DATA, END_STREAM, stream, BODY) for stream in CALLS)


@given(places=st.lists(st.integers(0, len(ASKED)), max_size=20))
def test_calls_come_in_as_they_are_served_each_byte_once_and_in_order(places: list[int]) -> None:
    seen, led, begun = Inbound(paced()), bytearray(), []
    seen.feed(PREFACE, 0.0)
    for piece in cut(ASKED, places):
        rest = piece
        while True:
            taken = seen.feed(rest, 1.0)
            led += rest[:taken]
            rest = rest[taken:]
            assert len(seen.begun) <= MOST_CALLS
            if not rest:
                break
            assert len(seen.begun) == MOST_CALLS
            begun.append(next(iter(seen.begun)))
            assert seen.serve() == 1.0
    assert led == ASKED
    assert begun + list(seen.begun) == CALLS


def test_a_call_that_its_client_resets_counts_for_a_moment_more() -> None:
    due: list[Callable[[], None]] = []
    calls = Pacing(lambda: 0.0, lambda _, what: due.append(what))
    seen = Inbound(calls)
    seen.feed(PREFACE + begin(1) + frame(RST_STREAM, 0, 1, bytes(4)) + begin(3), 0.0)
    assert (calls.calls, list(seen.begun)) == (2, [3])
    seen.give_up()
    for what in due:
        what()
    assert (calls.calls, seen.begun) == (0, {})


def test_of_an_address_so_many_frames_are_walked_over_in_a_second() -> None:
    now, due = 0.0, list[Callable[[], None]]()
    pacing = Pacing(lambda: now, lambda _, what: due.append(what))
    one = Inbound(pacing)
    pings = frame(PING, 0, 0, bytes(8)) * int(MOST_FRAMES)
    assert one.feed(PREFACE + pings, 0.0) == len(PREFACE + pings)
    assert Inbound(pacing).feed(PREFACE + pings, 0.0) == len(PREFACE), "they are the address's"

    class Flood:
        """A connection that has more to send."""

        def lead_on(self) -> None:
            led.append(one.feed(pings, now))
            pacing.hold(self)

    led: list[int] = []
    pacing.hold(Flood())
    for _ in range(10):
        now += 0.02
        due.pop()()
    frames = sum(led) / len(frame(PING, 0, 0, bytes(8)))
    assert frames == pytest.approx(10_000, rel=0.01)  # of a fifth of a second


class Waits:
    """A connection with calls that wait."""

    def __init__(self, calls: Pacing, number: int) -> None:
        self.calls, self.left = calls, number

    def lead_on(self) -> None:
        more = min(self.left, MOST_CALLS - self.calls.calls)
        self.left -= more
        self.calls.calls += more
        if self.left:
            self.calls.hold(self)


def test_calls_that_found_no_frames_left_are_looked_at_again() -> None:
    now, due = 0.0, list[Callable[[], None]]()
    calls = Pacing(lambda: now, lambda _, what: due.append(what))
    calls.calls = MOST_CALLS
    waiting = Waits(calls, 3)
    calls.hold(waiting)
    calls.frames = 0.0
    for _ in range(MOST_CALLS):
        calls.begin()
    assert waiting.left == 3
    now += 0.02
    for what in due:
        what()
    assert waiting.left == 0


def test_connections_of_one_address_take_turns() -> None:
    calls = paced()
    calls.calls = MOST_CALLS
    waiting = [Waits(calls, 3 * MOST_CALLS), Waits(calls, 3 * MOST_CALLS), Waits(calls, 3)]
    for one in waiting:
        calls.hold(one)
    for _ in range(MOST_CALLS // 2 * 3):
        calls.begin()
    assert waiting[2].left == 0
    assert max(waiting[0].left, waiting[1].left) < 3 * MOST_CALLS
    calls.forget(waiting[0])
    before = waiting[0].left
    for _ in range(10 * MOST_CALLS):
        calls.begin()
    assert (waiting[0].left, waiting[1].left) == (before, 0)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_anything_can_be_sent(data: bytes, places: list[int]) -> None:
    seen = Inbound(paced())
    with contextlib.suppress(FramingError):
        for piece in cut(PREFACE + data, places):
            seen.feed(piece, 0.0)
    assert 0 <= seen.held <= len(data)
