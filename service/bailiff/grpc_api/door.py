"""The server's port: connections are counted here, and what they owe, before grpcio has them.

grpcio gives no hold on its listener: it cannot bound connections by address, nor end one whose
client does not read, and it takes every byte of every message that it has asked for. So the port is
opened here, as those of HTTP are, and grpcio listens on a socket of this machine that has no name
in any folder. Bytes pass as they are. In passing the frames are walked over (`frames.py`), which
tells what is held of messages that are not whole: that much is taken of the budget, and where it
has no more the connection is not read from until it has.

Who is refused is hung up on without a word. To a client that is a failed attempt: its calls end as
UNAVAILABLE, and it comes again after its backoff. A GOAWAY would let them wait, since the
connection had been there.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from typing import TYPE_CHECKING

from bailiff.grpc_api.connection import Connection, inner_end
from bailiff.serving.listener import Listener
from bailiff.serving.listening import bound_socket

if TYPE_CHECKING:
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.serving import ServingTls
    from bailiff.serving.places import Place

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
        self._listener: Listener | None = None
        self._dialling: set[asyncio.Task[None]] = set()

    @property
    def inner(self) -> str:
        """Where grpcio is to listen, as it spells addresses."""
        return f"unix-abstract:{self._name}"

    def open(self, host: str, port: int, *, reuse_port: bool) -> int:
        """Listen; the port that was bound.

        Raises:
            OSError: the address cannot be bound.
        """
        listening = bound_socket(host, port, reuse_port=reuse_port)
        bound: int = listening.getsockname()[1]
        doorman, tls = self._doorman, self._tls
        context = None if tls is None else lambda: tls.in_force.grpc
        self._listener = Listener(
            listening, self._let_in, doorman.places, doorman.bounds, doorman, context
        )
        self._listener.start(_BACKLOG)
        doorman.open()
        return bound

    def close(self) -> None:
        """Take no new connection; those that there are go on."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def end(self) -> None:
        """End all connections, and the doorman's rounds."""
        self.close()
        self._doorman.close()
        for task in self._dialling:
            task.cancel()

    def _let_in(self, place: Place) -> Connection:
        made = Connection(self._doorman, self._dial, place, secured=self._tls is not None)
        # One on which a call is open makes no room, so it is enough to look at those that ended.
        place.acts = lambda: made.inbound.ended
        return made

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
