"""What the runtime sends, in whatever pieces and however wrong, without I/O."""

from __future__ import annotations

import struct

import pytest
from h2.errors import ErrorCodes
from h2.events import SettingsAcknowledged
from h2.exceptions import H2Error
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.cri.errors import CriMalformedError, CriStatusError, CriTooLongError
from tests.harness.fuzzing import fuzzed
from tests.unit.agent.cri.fake_runtime import HEAD, MOST, STREAM, begun, framed, goaway


def test_what_is_sent_is_grpc():
    _, served = begun()
    assert served.asked
    assert served.path == "/runtime.v1.RuntimeService/Version"
    assert served.headers[":authority"] == "localhost"
    assert served.headers["te"] == "trailers"
    assert served.headers["content-type"] == "application/grpc"
    assert served.request == framed(b"asked")


def test_nothing_may_be_pushed():
    _, served = begun()
    assert served.h2.remote_settings[SettingCodes.ENABLE_PUSH] == 0


def test_settings_are_acknowledged():
    own, served = begun()
    served.take(own.take(served.out()))
    assert [one for one in served.events if isinstance(one, SettingsAcknowledged)]


def test_an_answer_cut_in_two_wherever():
    own, served = begun()
    whole = served.whole(b"answer").out()
    for at in range(len(whole) + 1):
        own, _ = begun()
        own.take(whole[:at])
        own.take(whole[at:])
        assert own.ended
        assert own.answer() == b"answer"


def test_an_answer_byte_by_byte_is_not_ended_before_its_last():
    own, served = begun()
    whole = served.whole(b"answer").out()
    for at in range(len(whole)):
        assert not own.ended
        own.take(whole[at : at + 1])
    assert own.answer() == b"answer"


@given(pieces=st.lists(st.binary(max_size=200), max_size=5), size=st.integers(1, 60))
@fuzzed(200)
def test_a_message_in_any_frames_and_pieces(pieces, size):
    own, served = begun()
    served.head()
    message = b"".join(pieces)
    cut = [framed(message)[:3], framed(message)[3:5], *pieces]
    for piece in cut:
        served.data(piece)
    whole = served.trailers().out()
    for at in range(0, len(whole), size):
        own.take(whole[at : at + size])
    assert own.answer() == message


def test_there_is_room_for_a_whole_mebibyte_from_the_beginning():
    _, served = begun()
    assert served.h2.local_flow_control_window(STREAM) == 2**20


@pytest.mark.parametrize("split", [False, True], ids=["at once", "later"])
def test_a_runtime_that_is_going_away_may_finish(split):
    """It is told once that it ends when all that was asked is answered: GracefulStop of grpc-go."""
    own, served = begun()
    served.head().data(framed(b"ans"))
    first = served.out() + goaway(2**31 - 1) + goaway(STREAM)
    rest = served.trailers().out()
    for piece in (first, rest) if split else (first + rest,):
        own.take(piece)
    assert own.answer() == b"ans"


def test_what_comes_after_the_answer_does_not_matter():
    own, served = begun()
    own.take(served.whole(b"ans").out() + goaway(0, ErrorCodes.INTERNAL_ERROR) + b"junk" * 5)
    assert own.answer() == b"ans"


def test_one_that_goes_away_without_having_taken_the_call():
    own, served = begun()
    with pytest.raises(ConnectionResetError, match="going away"):
        own.take(served.out() + goaway(0))


def test_the_bit_that_is_reserved_does_not_count():
    own, served = begun()
    with pytest.raises(ConnectionResetError, match="going away"):
        own.take(served.out() + b"\0\0\x08\7\0\0\0\0\0\x80\0\0\0\0\0\0\0")


def test_one_that_goes_away_for_an_error():
    own, served = begun()
    code = ErrorCodes.ENHANCE_YOUR_CALM
    with pytest.raises(ConnectionResetError, match=f"error {int(code)}"):
        own.take(served.out() + goaway(STREAM, code))


@pytest.mark.parametrize("code", [*ErrorCodes, 99], ids=str)
def test_a_call_that_was_reset(code):
    own, served = begun()
    served.head().h2.reset_stream(STREAM, code)
    with pytest.raises(ConnectionResetError, match=f"error {int(code)}"):
        own.take(served.out())


def test_a_reset_when_all_was_said():
    """As a server does that will not read the rest of a request."""
    own, served = begun()
    served.head(("grpc-status", "5"))
    served.h2.reset_stream(STREAM, ErrorCodes.NO_ERROR)
    own.take(served.out())
    with pytest.raises(CriStatusError, match="code 5"):
        own.answer()


def test_a_reset_for_an_error_although_all_was_said():
    own, served = begun()
    served.head(("grpc-status", "0"))
    served.h2.reset_stream(STREAM, ErrorCodes.INTERNAL_ERROR)
    with pytest.raises(ConnectionResetError, match="error 2"):
        own.take(served.out())


@pytest.mark.parametrize("only", [True, False], ids=["trailers only", "after a head"])
def test_no(only):
    own, served = begun()
    said = "no%20image%3A%20%F0%9F%98%80 %zz%"
    if only:
        served.head(("grpc-status", "9"), ("grpc-message", said), end=True)
    else:
        served.head().trailers("9", said)
    own.take(served.out())
    with pytest.raises(CriStatusError) as caught:
        own.answer()
    assert caught.value.code == 9
    assert str(caught.value) == "Version: code 9: 'no image: 😀 %zz%'"


def test_what_it_says_is_cut_and_quoted():
    own, served = begun()
    own.take(served.head().trailers("2", "a%0Ab" + "c" * 5000).out())
    with pytest.raises(CriStatusError) as caught:
        own.answer()
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_a_head_that_has_no_end():
    own, served = begun()
    served.h2.send_headers(STREAM, [*HEAD, *((f"x-{n}", "y" * 1000) for n in range(100))])
    with pytest.raises(H2Error):
        own.take(served.out())


@pytest.mark.parametrize("code", ["9" * 5000, "-1", "1.0", "x", "", "0x1"])
def test_a_status_that_is_none(code):
    own, served = begun()
    own.take(served.head().trailers(code).out())
    with pytest.raises(CriMalformedError, match="no gRPC"):
        own.answer()


def test_an_answer_without_a_status():
    own, served = begun()
    served.head().h2.send_data(STREAM, framed(b"ans"), end_stream=True)
    own.take(served.out())
    with pytest.raises(CriMalformedError, match="no gRPC: HTTP status 200"):
        own.answer()


def test_an_answer_of_another_server():
    own, served = begun()
    served.h2.send_headers(STREAM, [(":status", "404"), ("content-type", "text/plain")])
    served.h2.send_data(STREAM, b"404 page not found", end_stream=True)
    own.take(served.out())
    with pytest.raises(CriMalformedError, match="no gRPC: HTTP status 404"):
        own.answer()


@pytest.mark.parametrize(
    "body",
    [b"", b"\0\0\0\0", framed(b"ans")[:-1], framed(b"a") * 2, b"\1" + framed(b"ans")[1:]],
    ids=["none", "part of a length", "too short", "two", "compressed"],
)
def test_what_is_not_one_message(body):
    own, served = begun()
    own.take(served.head().data(body).trailers().out())
    with pytest.raises(CriMalformedError, match="message"):
        own.answer()


def test_as_long_as_it_may_be():
    own, served = begun()
    own.take(served.whole(b"x" * MOST).out())
    assert own.answer() == b"x" * MOST


def test_one_that_is_longer_than_it_says():
    own, served = begun()
    with pytest.raises(CriTooLongError, match="Version: the answer exceeds 1000 bytes"):
        own.take(served.head().data(framed(b"x") + b"x" * MOST).out())


def test_one_that_says_it_is_too_long_is_not_waited_for():
    own, served = begun()
    with pytest.raises(CriTooLongError, match="exceeds 1000 bytes"):
        own.take(served.head().data(struct.pack(">BI", 0, MOST + 1)).out())


def test_an_interim_answer_is_passed_over():
    own, served = begun()
    served.h2.send_headers(STREAM, [(":status", "103"), ("link", "x")])
    own.take(served.whole(b"ans").out())
    assert own.answer() == b"ans"


def test_a_ping_is_answered():
    own, served = begun()
    served.h2.ping(b"12345678")
    assert b"12345678" in own.take(served.out())
