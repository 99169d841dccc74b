"""What comes from somebody who is no runtime, or does not mean well, without I/O."""

from __future__ import annotations

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import H2Error
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.cri.errors import CriError
from bailiff.agent.cri.frames import Frames
from tests.harness.fuzzing import fuzzed
from tests.unit.agent.cri.fake_runtime import HEAD, STREAM, begun, framed


@pytest.mark.parametrize("settles", [True, False], ids=["told", "not told"])
def test_another_stream_is_not_the_answer(settles):
    own, served = begun()
    if settles:
        served.take(own.take(served.out()))
    # A server that does not care that it may not push.
    served.h2.remote_settings[SettingCodes.ENABLE_PUSH] = 1
    served.h2.remote_settings.acknowledge()
    asked = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "x")]
    served.h2.push_stream(STREAM, 2, asked)
    served.h2.send_headers(2, HEAD)
    served.h2.send_data(2, framed(b"other"))
    served.h2.send_headers(2, [("grpc-status", "0")], end_stream=True)
    with pytest.raises(H2Error):
        own.take(served.out())
    assert not own.ended


def test_a_call_of_theirs_is_not_the_answer():
    """h2 takes it, although no server may call."""
    own, served = begun()
    theirs = H2Connection(H2Configuration(client_side=True))
    asked = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "x")]
    theirs.send_headers(STREAM, asked)
    theirs.send_data(STREAM, framed(b"other"), end_stream=True)
    for frame in Frames().cut(theirs.data_to_send()):
        own.take(frame[:8] + b"\2" + frame[9:])
    assert not own.ended
    own.take(served.whole(b"answer").out())
    assert own.answer() == b"answer"


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 9, b"\xff" * 9],
    ids=["HTTP/1.1", "ssh", "zeros", "ones"],
)
def test_what_is_no_http_2_is_told_by_its_first_bytes(data):
    own, _ = begun()
    with pytest.raises(H2Error):
        own.take(data)


def test_a_frame_longer_than_we_allow_is_not_waited_for():
    own, served = begun()
    own.take(served.out())
    with pytest.raises(H2Error):
        own.take((2**14 + 1).to_bytes(3) + b"\0\0\0\0\0\1")


frames = st.builds(
    lambda body, kind, flags, stream: (
        len(body).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + body
    ),
    st.binary(max_size=40),
    st.integers(0, 12),
    st.integers(0, 255),
    st.sampled_from([0, 1, 2, 3, 2**31 - 1, 2**31 + 1]),
)


@given(st.lists(st.one_of(frames, st.binary(max_size=60)), max_size=8))
@fuzzed(2000)
def test_whatever_comes_there_is_one_of_our_errors_or_nothing(pieces):
    own, served = begun()
    own.take(served.out())
    try:
        for piece in pieces:
            own.take(piece)
        if own.ended:
            own.answer()
    except (CriError, H2Error, ConnectionError, UnicodeDecodeError):
        pass


@given(st.data())
@fuzzed(1000)
def test_an_answer_with_some_bytes_changed(data):
    own, served = begun()
    whole = bytearray(served.whole(b"answer").out())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        own.take(bytes(whole))
        if own.ended:
            own.answer()
    except (CriError, H2Error, ConnectionError, UnicodeDecodeError):
        pass
