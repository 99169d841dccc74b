"""What connections and questions leave behind: nothing that waits for a garbage collection."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.connection import Connection
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving.protocol import BoundedProtocol
from tests.harness.corpus import CLOCK, answer_of_core, load, question_of
from tests.harness.faces.asgi import call
from tests.harness.faces.grpc_face import SERVICE, request_of, running
from tests.harness.faces.http2 import Http2Client, message
from tests.harness.http_edge import ASK, LIMIT, post, serving, streams

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = 20


class Seen:
    """Connections that were made while nothing is collected."""

    def __init__(self) -> None:
        self._all: list[weakref.ref[Any]] = []

    def watch(self, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
        made = kind.connection_made  # type: ignore[attr-defined]  # each kind is a Protocol

        def connection_made(connection: Any, transport: Any) -> None:
            self._all.append(weakref.ref(connection))
            made(connection, transport)

        monkeypatch.setattr(kind, "connection_made", connection_made)

    async def until_made(self) -> None:
        while len(self._all) < NUMBER:
            await asyncio.sleep(0.01)

    async def until_freed(self) -> None:
        while any(one() is not None for one in self._all):
            await asyncio.sleep(0.01)


@pytest.fixture
def seen() -> Iterator[Seen]:
    gc.disable()
    try:
        yield Seen()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(ASK, id="a request"),
        pytest.param(ASK * 3, id="three requests at once"),
        pytest.param(b"nonsense\r\n\r\n", id="what is no HTTP"),
        pytest.param(post(10) + b"12345", id="half a body"),
    ],
)
async def test_a_connection_of_http_is_freed_when_it_ends(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    seen.watch(BoundedProtocol, monkeypatch)
    async with serving() as port, asyncio.timeout(LIMIT):
        with streams(port) as clients:
            for _ in range(NUMBER):
                await clients.open(sent)
            await seen.until_made()
        await seen.until_freed()


@pytest.mark.parametrize("sent", [b"", message(b"")], ids=["nothing", "a call"])
async def test_a_connection_of_grpc_is_freed_when_it_ends(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    seen.watch(Connection, monkeypatch)
    async with running(GrpcSettings(port=0)) as face, asyncio.timeout(LIMIT):
        clients = [await Http2Client.connect(face.port) for _ in range(NUMBER)]
        for client in clients:
            if sent:
                await client.send(client.call(f"/{SERVICE}/Decide"), sent)
        await seen.until_made()
        for client in clients:
            await client.close()
        await seen.until_freed()


class Garbage:
    """What a garbage collection would have to find."""

    def __init__(self) -> None:
        self.ours: Counter[str] = Counter()

    def collect(self) -> None:
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
        finally:
            gc.set_debug(0)
        self.ours.update(
            type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("bailiff.")
        )
        gc.garbage.clear()


@pytest.fixture
def garbage() -> Iterator[Garbage]:
    gc.collect()
    gc.disable()
    # What was there before is not looked at: a server of another test may end only now, in a
    # thread of its own.
    gc.freeze()
    try:
        yield Garbage()
    finally:
        gc.unfreeze()
        gc.enable()


CASES = [(question_of(case, SYSTEMS), case) for case in load()]


def test_the_core_leaves_nothing_of_a_question(garbage: Garbage) -> None:
    for question, case in CASES:
        answer_of_core(question, case["body"])
    garbage.collect()
    assert not garbage.ours


async def test_rest_leaves_nothing_of_a_question(garbage: Garbage) -> None:
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options())
    for question, case in CASES:
        await call(app, "POST", f"/v1/{question.path}", case["body"])
    garbage.collect()
    assert not garbage.ours


async def test_grpc_leaves_nothing_of_a_question(garbage: Garbage) -> None:
    answers = Counter[str]()
    async with running(now=CLOCK.now()) as face:
        for question, case in CASES:
            if "not-in-protobuf" in case:
                continue
            request = request_of(question.name, case["body"])
            try:
                await face.ask(question.name, request)
            except grpc.aio.AioRpcError as error:
                answers[error.code().name] += 1
            else:
                answers["OK"] += 1
        garbage.collect()
    assert not garbage.ours
    assert answers["OK"]
    assert answers["INVALID_ARGUMENT"]
