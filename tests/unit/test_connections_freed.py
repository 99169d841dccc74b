"""What connections leave behind: nothing that would be there until a garbage collection."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.connection import Connection
from bailiff.serving.protocol import BoundedProtocol
from tests.harness.faces.grpc_face import SERVICE, running
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
