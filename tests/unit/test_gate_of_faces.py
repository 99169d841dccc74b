"""What is answered at once, over either face, passes the gate of the process first."""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1 import (  # type: ignore[import-untyped]  # it ships no types
    health_pb2,
    health_pb2_grpc,
)
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.serving import Edge, Gate
from bailiff.turns import WaitedTooLongError
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as kube
from tests.harness.clocks import START, ManualClock
from tests.harness.faces.grpc_face import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOCAL = "127.0.0.1"
DECIDE = pb.DecideRequest(pod=kube.Pod(), node=kube.Node())
BODY = json.dumps({"pod": {}, "node": {}}).encode()


class Guarded(Gate):
    """Lets nobody in at once.

    Attributes:
        waited: who waited, and for how many seconds it may have, those begun included.
        is_full: nobody is let in at all.
    """

    def __init__(self, *, is_full: bool = False) -> None:
        super().__init__()
        self.waited: list[tuple[str, float]] = []
        self.is_full = is_full

    def enter(self) -> bool:
        return False

    async def wait(self, address: str, longest: float) -> None:
        self.waited.append((address, longest if math.isinf(longest) else math.ceil(longest)))
        asyncio.get_running_loop().call_soon(self._next_turn)
        if self.is_full and longest < 1000:
            raise WaitedTooLongError(longest)

    def _next_turn(self) -> None:
        self.number += 1


async def test_messages_of_grpc_wait_for_their_turn_and_the_health_does_not() -> None:
    gate = Guarded()
    async with running(GrpcSettings(port=0, max_queue_age_seconds=7), gate=gate) as face:
        await face.stub.Decide(DECIDE)
        assert gate.waited == [(LOCAL, 7)]

        async def requests() -> AsyncIterator[pb.DecideStreamRequest]:
            for number in range(3):
                yield pb.DecideStreamRequest(request_id=f"{number}")

        assert len([one async for one in face.stub.DecideStream(requests())]) == 3
        assert gate.waited == [(LOCAL, 7)] * 4
        health = health_pb2_grpc.HealthStub(face.channel)
        await health.Check(health_pb2.HealthCheckRequest())
        assert len(gate.waited) == 4


async def test_a_message_of_grpc_whose_turn_does_not_come_is_refused() -> None:
    async with running(GrpcSettings(port=0), gate=Guarded(is_full=True)) as face:
        with pytest.raises(grpc.aio.AioRpcError, match="no turn came within 1 s") as caught:
            await face.stub.Decide(DECIDE)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def ask_rest(gate: Guarded, *pieces: bytes) -> bytes:
    """The head of the answer to what is sent in pieces."""
    settings = RestSettings(host=LOCAL, port=0, max_queue_age_seconds=7)
    clock = ManualClock(START)
    app = create_app(settings, clock, CollectorRegistry(), Options(), gate=gate)
    server = RestServer(app, settings, Edge(gate=gate))
    port = await server.start()
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(LOCAL, port)
            for piece in pieces:
                writer.write(piece)
                while not gate.number:
                    await asyncio.sleep(0)
            told = await reader.readuntil(b"\r\n\r\n")
            writer.close()
    finally:
        await server.stop(grace=0)
    return told


def head(path: str, length: int) -> bytes:
    method = "POST" if length else "GET"
    lines = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    return lines.encode()


async def test_a_request_over_rest_waits_once_for_its_turn() -> None:
    gate = Guarded()
    told = await ask_rest(gate, head("/v1/decisions", len(BODY)) + BODY)
    assert told.startswith(b"HTTP/1.1 200 ")
    assert gate.waited == [(LOCAL, 7)]


async def test_what_a_request_has_waited_before_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.serving.protocol.monotonic", lambda: time.monotonic() - 3)
    gate = Guarded()
    told = await ask_rest(gate, head("/v1/decisions", len(BODY)) + BODY)
    assert told.startswith(b"HTTP/1.1 200 ")
    assert gate.waited == [(LOCAL, 4)]


async def test_a_body_that_comes_later_waits_again() -> None:
    gate = Guarded()
    told = await ask_rest(gate, head("/v1/decisions", len(BODY)), BODY)
    assert told.startswith(b"HTTP/1.1 200 ")
    assert gate.waited == [(LOCAL, 7)] * 2


@pytest.mark.parametrize(("path", "status"), [("/v1/decisions", b"503"), ("/healthz", b"200")])
async def test_whose_turn_does_not_come_is_refused_unless_it_is_a_probe(
    path: str, status: bytes
) -> None:
    length = 0 if path == "/healthz" else len(BODY)
    told = await ask_rest(Guarded(is_full=True), head(path, length) + BODY[:length])
    assert told.split()[1] == status
