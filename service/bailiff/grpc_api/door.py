"""The server's port: connections are counted here, and what they owe, before grpcio has them.

grpcio gives no hold on its listener: it cannot bound connections by address, nor end one whose
client does not read, and it takes every byte of every message that it has asked for. So the port is
opened here, and grpcio listens on a socket of this machine that has no name in any folder. Bytes
pass as they are. In passing the frames are walked over (`frames.py`), which tells what is held of
messages that are not whole: that much is taken of the budget, and where it has no more the
connection is not read from until it has.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from typing import TYPE_CHECKING

from bailiff.grpc_api.connection import Connection, inner_end
from bailiff.grpc_api.secured_port import SecuredPort

if TYPE_CHECKING:
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.serving import ServingTls

# Connections that the kernel keeps until they are accepted.
_BACKLOG = 2048


class Door:
    """Listens, and leads what comes in to grpcio."""

    def __init__(self, doorman: Doorman, tls: ServingTls | None = None) -> None:
        """Prepare.

        Args:
            doorman: who knows the connections.
            tls: how to speak TLS to clients, which may change; None: not at all.
        """
        self._doorman = doorman
        self._tls = tls
        self._name = f"bailiff-{secrets.token_hex(8)}"
        self._made = 0
        self._server: asyncio.Server | SecuredPort | None = None
        self._dialling: set[asyncio.Task[None]] = set()

    @property
    def inner(self) -> str:
        """Where grpcio is to listen, as it spells addresses."""
        return f"unix-abstract:{self._name}"

    async def open(self, host: str, port: int, *, reuse_port: bool) -> int:
        """Listen; the port that was bound.

        Raises:
            OSError: the address cannot be bound.
        """
        listener = _listener(host, port, reuse_port)
        bound: int = listener.getsockname()[1]
        self._server = await self._listen(listener)
        self._doorman.open()
        return bound

    async def _listen(self, listener: socket.socket) -> asyncio.Server | SecuredPort:
        if self._tls is None:
            loop = asyncio.get_running_loop()
            return await loop.create_server(self._let_in, sock=listener, backlog=_BACKLOG)
        secured = SecuredPort(listener, self._tls, self._doorman, self._let_in)
        secured.start(_BACKLOG)
        return secured

    def close(self) -> None:
        """Take no new connection; those that there are go on."""
        if self._server is not None:
            self._server.close()

    def end(self) -> None:
        """End all connections, and the doorman's rounds."""
        self.close()
        self._doorman.close()
        for task in self._dialling:
            task.cancel()

    def _let_in(self) -> Connection:
        return Connection(self._doorman, self._dial, self._tls is not None)

    def _dial(self, connection: Connection) -> None:
        task = asyncio.get_running_loop().create_task(self._lead(connection))
        self._dialling.add(task)
        task.add_done_callback(self._dialling.discard)

    async def _lead(self, connection: Connection) -> None:
        """Connect it with grpcio, which knows it by the name of this end."""
        loop = asyncio.get_running_loop()
        try:
            self._made += 1
            name = f"{self._name}-{self._made}"
            inner = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            inner.setblocking(False)
            inner.bind(f"\0{name}")
            # A socket of this machine connects at once, or not at all.
            inner.connect(f"\0{self._name}")
            self._doorman.name(connection, f"unix-abstract:{name}")
            await loop.create_unix_connection(lambda: inner_end(connection), sock=inner)
        except (OSError, asyncio.CancelledError):
            connection.abort()


def _listener(host: str, port: int, reuse_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # So that a restart need not wait for the connections of the run before.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reuse_port:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.setblocking(False)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener
