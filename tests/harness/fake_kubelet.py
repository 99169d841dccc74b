"""A kubelet's server on loopback that answers as a test says, over TLS, byte by byte if need be."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from bailiff.kinds import (
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeDaemonEndpoints,
    NodeMeta,
    NodeStatus,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.kube.tls import Tls

Behaviour: TypeAlias = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]

TOKEN = "kubelet-token"


class FakeKubelet:
    """Counts what comes, and answers each request by the behaviour of that moment.

    Attributes:
        port: on 127.0.0.1.
        behaviour: is told the head of a request, and writes the answer.
        heads: of all requests so far.
        connections: how many have been opened with TLS.
    """

    def __init__(self, behaviour: Behaviour, greeting: bytes = b"") -> None:
        self.port = 0
        self.behaviour = behaviour
        self._greeting = greeting
        self.heads: list[bytes] = []
        self.connections = 0
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def node(self, name: str = "n1", address: str = "127.0.0.1", kind: str = "InternalIP") -> Node:
        """A node that says that its kubelet is here."""
        return node_at(name, address, self.port, kind)

    def hang_up(self) -> None:
        """Close all connections, as a kubelet that ends."""
        for writer in self._open.values():
            writer.transport.abort()

    async def end(self) -> None:
        """Close all connections, and wait for those who serve them."""
        self.hang_up()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One more connection."""
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._open.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            writer.write(self._greeting)
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                await self.behaviour(head, writer)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def fake_kubelet(
    behaviour: Behaviour,
    tls: Tls | None,
    *,
    client_ca: Path | None = None,
    greeting: bytes = b"",
    address: str = "127.0.0.1",
) -> AsyncIterator[FakeKubelet]:
    """Serve on a free port.

    Args:
        behaviour: how requests are answered at first.
        tls: its certificate; without it nothing is said before something comes that is a request.
        client_ca: only who has a certificate of this authority is served.
        greeting: said to whoever connects.
        address: of this machine.
    """
    made = FakeKubelet(behaviour, greeting)
    context = None if tls is None else _context(tls, client_ca)
    server = await asyncio.start_server(made.accept, address, 0, ssl=context)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.end()


def _context(tls: Tls, client_ca: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client_ca)
    context.load_cert_chain(tls.certificate, tls.key)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def node_at(name: str, address: str, port: int, kind: str = "InternalIP") -> Node:
    """A node that says where its kubelet is."""
    endpoints = NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port))
    status = NodeStatus(
        addresses=(NodeAddress(type=kind, address=address),), daemon_endpoints=endpoints
    )
    return Node(metadata=NodeMeta(name=name), status=status)


def answering(
    body: bytes, status: str = "200 OK", *headers: str, chunk: int = 32 * 1024
) -> Behaviour:
    """An answer in chunks, as Go's server writes one that is long."""
    lines = (f"HTTP/1.1 {status}", *headers, "Transfer-Encoding: chunked", "", "")
    head = "\r\n".join(lines).encode()
    parts = [body[at : at + chunk] for at in range(0, len(body), chunk)]
    text = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return raw(head + text + b"0\r\n\r\n")


def raw(text: bytes, *, then_close: bool = False) -> Behaviour:
    """These bytes, whatever they are."""

    async def behave(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(text)
        if then_close:
            await writer.drain()
            writer.transport.abort()

    return behave


def asking_for_the_token(behaviour: Behaviour) -> Behaviour:
    """401 for all who have not the TOKEN."""
    refusal = answering(b"Unauthorized", "401 Unauthorized")

    async def behave(head: bytes, writer: asyncio.StreamWriter) -> None:
        known = b"Authorization: Bearer %s\r\n" % TOKEN.encode() in head
        await (behaviour if known else refusal)(head, writer)

    return behave


async def hanging(_head: bytes, _writer: asyncio.StreamWriter) -> None:
    """No answer, and the connection stays."""
    await asyncio.Event().wait()


async def dripping(_head: bytes, writer: asyncio.StreamWriter) -> None:
    """A byte each ten milliseconds, of a body that has no end."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)
