"""Servers that talk nonsense, and what the four clients make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from aiohttp import web
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import status_pb2  # type: ignore[import-untyped]  # it ships no types
from google.rpc.error_details_pb2 import (  # type: ignore[import-untyped]
    BadRequest,
    ErrorInfo,
    RetryInfo,
)
from hypothesis import given
from hypothesis import strategies as st

from bailiff.client import BailiffError, ServerError, rest_words
from tests.harness.fuzzing import fuzzed
from tests.harness.judge import Stream
from tests.harness.scripts import GRPC, QUESTION, QUICK, REST, Script, part, scripted
from tests.harness.ways import WAYS, client

NO_PROTOBUF = b"\xff\xff"


def packed(message: Message, data: bytes | None = None) -> Packed:
    told = Packed()
    told.Pack(message)
    told.value = told.value if data is None else data
    return told


def named(reason: str) -> Packed:
    return packed(ErrorInfo(domain="bailiff.dev", reason=reason))


def retrying(seconds: int) -> Packed:
    return packed(RetryInfo(retry_delay=Duration(seconds=seconds)))


def saying(*details: Packed, code: int = 14) -> Callable[[Any], AsyncIterator[bytes]]:
    """A refusal with these details in gRPC's trailing metadata."""
    told = status_pb2.Status(code=code, message="no", details=details).SerializeToString()

    async def refusing(context: Any) -> AsyncIterator[bytes]:
        context.set_trailing_metadata([("grpc-status-details-bin", told)])
        await context.abort(grpc.StatusCode.UNAVAILABLE, "no")
        yield b""

    return refusing


def problem(body: str, retry_after: str | None = None, status: int = 503) -> Callable[..., Any]:
    async def refusing(_: Any) -> web.Response:
        headers = {"Retry-After": retry_after} if retry_after else {}
        return web.Response(status=status, text=body, headers=headers)

    return refusing


def bytes_of(*parts: bytes) -> Callable[..., Any]:
    async def answering(_: Any) -> AsyncIterator[bytes]:
        for data in parts:
            yield data

    return answering


OVERLOADED = '{"code": "overloaded", "detail": "no"}'
GARBLED_REST = {
    "a date in a year that never comes": (
        problem(OVERLOADED, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"),
        "overloaded",
        None,
    ),
    "a date in the past": (problem(OVERLOADED, "Mon, 01 Jan 1990 00:00:00 GMT"), "overloaded", 0),
    "a number without end": (problem(OVERLOADED, "9" * 400), "overloaded", 86_400),
    "a negative number": (problem(OVERLOADED, "-100"), "overloaded", None),
    "no code": (problem('{"code": ""}', status=500), "http_500", None),
    "half a character": (problem('{"code": "\\ud800"}', status=500), "?", None),
    "another's 404": (problem("not here", status=404), "http_404", None),
    "no answer of ours": (problem('{"decision": 5}', status=200), "unreadable_answer", None),
}
GARBLED_GRPC = {
    "status code 99": (saying(named("STRANGE"), code=99), "strange", None),
    "no reason": (saying(named("")), "unreachable", None),
    "garbled RetryInfo": (
        saying(named("OVERLOADED"), packed(RetryInfo(), NO_PROTOBUF)),
        "overloaded",
        None,
    ),
    "garbled BadRequest": (
        saying(named("OVERLOADED"), packed(BadRequest(), NO_PROTOBUF)),
        "overloaded",
        None,
    ),
    "garbled ErrorInfo": (saying(packed(ErrorInfo(), NO_PROTOBUF)), "unreachable", None),
    "a negative delay": (saying(named("OVERLOADED"), retrying(-100)), "overloaded", 0),
    "a delay without end": (saying(named("OVERLOADED"), retrying(2**62)), "overloaded", 86_400),
    "no answer of ours": (bytes_of(NO_PROTOBUF), "unreadable_answer", None),
    "no answer at all": (bytes_of(), "unreadable_answer", None),
}
GARBLED = [
    pytest.param(way, *case, id=f"{way}: {name}")
    for way in WAYS
    for name, case in (GARBLED_REST if way in REST else GARBLED_GRPC).items()
]


@pytest.mark.parametrize(("way", "step", "code", "after"), GARBLED)
async def test_a_server_that_talks_nonsense(
    way: str, step: Callable[..., Any], code: str, after: float | None
) -> None:
    async with scripted(way, Script(step)) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(BailiffError) as raised:
            await asking.ask("decide", QUESTION)
    assert (raised.value.code, raised.value.retry_after) == (code, after)
    # It can be printed, too.
    assert str(raised.value).encode()


@pytest.mark.parametrize("way", GRPC)
@pytest.mark.parametrize("parts", [(), (NO_PROTOBUF,), (part("a"), NO_PROTOBUF)])
async def test_parts_that_are_none(way: str, parts: tuple[bytes, ...]) -> None:
    """An answer without a part would be one about nobody."""
    script = Script(bytes_of(*parts))
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(ServerError) as whole:
            await asking.ask("decide_batch", {})
        with pytest.raises(ServerError) as by_part:
            await asking.parts("decide_batch_in_parts", {})
    assert {whole.value.code, by_part.value.code} == {"unreadable_answer"}


@pytest.mark.parametrize("way", GRPC)
async def test_a_stream_of_nonsense(way: str) -> None:
    script = Script(bytes_of(NO_PROTOBUF))
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        stream = Stream(asking.client.judge_nodes_stream())
        with pytest.raises(ServerError) as raised:
            await stream.do("register", [])
        await stream.do("close")
    assert raised.value.code == "unreadable_answer"


@fuzzed(500)
@given(text=st.text())
def test_any_retry_after_is_a_pause_or_none(text: str) -> None:
    pause = rest_words._retry_after(text)
    assert pause is None or 0.0 <= pause <= 86_400.0
