"""One TLS connection to a kubelet, and requests over it, one after the other.

Not aiohttp, by which the API server is asked: an answer of 730 kB takes it 3.4 ms of CPU over a new
connection and 1.1 ms over one that was kept, which then holds 600 KiB in uvloop's TLS. Here one of
400 kB takes 1.5 ms and 0.4 ms, and what is kept 40 KiB: with 5,000 nodes the difference is almost
3 GB. OpenSSL reads from the socket itself, so nothing in between is to be copied or to be kept.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bailiff.cluster.kubelets.errors import KubeletMalformedError, KubeletUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.cluster.kubelets.answers import Answer
    from bailiff.cluster.kubelets.endpoints import Address, Endpoint
    from bailiff.cluster.kubelets.turns import Turns

T = TypeVar("T")

# A TLS record holds 16 KiB at most, so this is one or two of them.
BUFFER = 32 * 1024
# Who sends one byte at a time makes us work for each. An answer of 4 MiB in records of one TCP
# segment is 3,000.
_MAX_READS = 20_000
# After so many others have their turn, though there may be more to read: 1 MiB at most.
_BURST = 64


class Connection:
    """Get it from `opened`, and close it. It belongs to one event loop, one task at a time."""

    def __init__(self, tls: ssl.SSLSocket, turns: Turns) -> None:
        self._tls = tls
        self._turns = turns
        self._reads = 0

    async def get(self, head: bytes, answer: Answer, buffer: bytearray) -> None:
        """Send a request that has no body, and take in its answer.

        Args:
            head: of the request, at most some KiB.
            answer: takes in what comes.
            buffer: to read into; connections of one event loop may share it.

        Raises:
            KubeletError: the connection broke, or the answer is refused.
            OSError: the same by the operating system's or OpenSSL's words.
        """
        sent = 0
        while sent < len(head):
            sent += await self._when_ready(partial(self._tls.send, head[sent:]))
        self._reads = 0
        # Nothing can be there yet, so there is no turn to be waited for.
        await _ready(self._tls, writing=False)
        while not await self._when_ready(partial(self._burst, answer, buffer)):
            pass

    def _burst(self, answer: Answer, buffer: bytearray) -> bool:
        """Take in what is there; whether that is all of the answer."""
        view = memoryview(buffer)
        for _ in range(_BURST):
            size = self._tls.recv_into(buffer)
            if size == 0:
                raise KubeletUnreachableError("the connection ended before the answer did")
            self._reads += 1
            if self._reads > _MAX_READS:
                raise KubeletMalformedError(f"the answer comes in more than {_MAX_READS} pieces")
            answer.feed(view[:size])
            if answer.complete:
                return True
        return False

    async def shake_hands(self) -> None:
        """Make it a TLS connection.

        Raises:
            OSError: see ssl.SSLError.
        """
        await self._when_ready(self._tls.do_handshake)

    def is_quiet(self) -> bool:
        """Whether nothing has come since the last answer: neither its end nor what nobody asked."""
        try:
            self._tls.recv(1)
        except ssl.SSLWantReadError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Hang up, without waiting for the other side."""
        self._tls.close()

    async def _when_ready(self, operation: Callable[[], T]) -> T:
        """What it comes to, as often as it has to wait for the other side."""
        while True:
            writing = False
            async with self._turns.one():
                try:
                    return operation()
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLWantWriteError:
                    writing = True
            await _ready(self._tls, writing=writing)


async def opened(
    endpoint: Endpoint, addresses: Sequence[Address], context: ssl.SSLContext, turns: Turns
) -> Connection:
    """A connection whose certificate has been verified, as the context says, for the host.

    Addresses are tried one after the other.

    Raises:
        OSError: none took it, or no TLS came about.
    """
    found = await _connected(addresses, endpoint.port)
    try:
        tls = context.wrap_socket(
            found, server_hostname=endpoint.host, do_handshake_on_connect=False
        )
    except BaseException:
        found.close()
        raise
    connection = Connection(tls, turns)
    try:
        await connection.shake_hands()
    except BaseException:
        connection.close()
        raise
    return connection


async def _connected(addresses: Sequence[Address], port: int) -> socket.socket:
    trouble: OSError = OSError("no address")
    for address in addresses:
        try:
            return await _connected_to(address, port)
        except OSError as error:
            trouble = error
    raise trouble


async def _connected_to(address: Address, port: int) -> socket.socket:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        found.setblocking(False)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(found, (str(address), port))
    except BaseException:
        found.close()
        raise
    return found


async def _ready(tls: ssl.SSLSocket, *, writing: bool) -> None:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    descriptor = tls.fileno()
    add, remove = (
        (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    )
    add(descriptor, _settle, done)
    try:
        await done
    finally:
        remove(descriptor)


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
