"""HTTP answers of whoever answers: whole ones, cut anywhere, and what is none."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster.kubelets import (
    KubeletError,
    KubeletMalformedError,
    KubeletTooLongError,
    decode_configuration,
)
from bailiff.cluster.kubelets.answers import Answer

MOST = 1000


def chunked(*parts: bytes, head: bytes = b"HTTP/1.1 200 OK\r\n") -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"


def fed(*parts: bytes) -> Answer:
    answer = Answer(MOST)
    for part in parts:
        answer.feed(part)
    return answer


@given(st.lists(st.integers(0, 200), max_size=5))
def test_a_whole_answer_however_it_is_cut(cuts: list[int]) -> None:
    text = chunked(b"one", b"two")
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    answer = fed(*(text[a:b] for a, b in pairwise(places)))
    assert (answer.complete, answer.status, bytes(answer.body)) == (True, 200, b"onetwo")
    assert answer.may_be_followed


def test_by_its_length_too() -> None:
    answer = fed(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
    assert (answer.complete, bytes(answer.body)) == (True, b"one")


@pytest.mark.parametrize(
    "text",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        chunked(b"one") + chunked(b"two"),
    ],
    ids=["it says so", "an old version", "more than was asked for"],
)
def test_connections_that_are_not_asked_again(text: bytes) -> None:
    answer = fed(text)
    assert answer.complete
    assert not answer.may_be_followed


def test_of_a_second_answer_nothing_is_taken() -> None:
    answer = fed(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\none" + chunked(b"two"))
    assert (answer.status, bytes(answer.body)) == (403, b"one")


@pytest.mark.parametrize(
    "parts",
    [
        [chunked(b"a" * (MOST + 1))],
        [chunked(*[b"a"] * (MOST + 1))],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", b"a" * 600, b"a" * 600],
    ],
)
def test_a_body_that_is_too_long(parts: list[bytes]) -> None:
    with pytest.raises(KubeletTooLongError, match="exceeds 1000 bytes"):
        fed(*parts)


def test_one_as_long_as_may_be() -> None:
    assert len(fed(chunked(b"a" * MOST)).body) == MOST


def test_what_frames_a_body_counts_too() -> None:
    one = b"1;%s\r\na\r\n" % (b"x" * 500)
    with pytest.raises(KubeletTooLongError):
        fed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[one] * 200)


def test_of_a_body_that_comes_byte_by_byte_few_pieces_are_kept_apart() -> None:
    answer = Answer(100_000)
    answer.feed(chunked(*[b"a"] * 20_000))
    assert len(answer._parts) <= 8192
    assert len(answer.body) == 20_000


def test_of_a_refusal_the_beginning_is_kept() -> None:
    refused = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9000\r\n\r\n"
    answer = Answer(10_000)
    answer.feed(refused + b"a" * 9000)
    assert (answer.complete, answer.status, len(answer.body)) == (True, 403, 4096)


@pytest.mark.parametrize(
    "text",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x16\x03\x01\x02\x00",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    ],
)
def test_what_is_no_http(text: bytes) -> None:
    with pytest.raises(KubeletMalformedError, match="no HTTP"):
        fed(text)


def test_a_head_without_end() -> None:
    with pytest.raises(KubeletMalformedError, match="head of the answer exceeds"):
        fed(b"HTTP/1.1 200 OK\r\n", *[b"X-A: %s\r\n" % (b"a" * 1000)] * 100)


def test_nothing_compressed_is_taken() -> None:
    with pytest.raises(KubeletMalformedError, match="compressed"):
        fed(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n")
    assert fed(chunked(b"a", head=b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n")).complete
    assert fed(chunked(b"a", head=b"HTTP/1.1 200 OK\r\nContent-Encoding:\r\n")).complete


@given(st.lists(st.binary(max_size=200), max_size=10), st.booleans())
def test_no_bytes_do_anything_else(parts: list[bytes], begins_well: bool) -> None:
    answer = Answer(MOST)
    try:
        if begins_well:
            answer.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in parts:
            answer.feed(part)
    except KubeletError:
        pass
    assert len(answer.body) <= MOST


def test_what_is_no_configuration_is_told_with_the_node_and_cut() -> None:
    long = "x" * 10_000
    data = msgspec.json.encode({"kubeletconfig": {"evictionHard": {long: 1}}})
    with pytest.raises(KubeletMalformedError) as told:
        decode_configuration(data, "n1")
    assert str(told.value).startswith("/configz of n1 is no configuration: $.kubeletconfig")
    assert len(str(told.value)) < 300
