"""Connections that get TLS before they are led to grpcio: each by what is in force when it comes.

asyncio's own servers have one context for life, and show no connection before its handshake; and
uvloop reads from a connection before TLS can be begun on it. So connections are accepted here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from bailiff.grpc_api.connection import Connection
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.serving import ServingTls

# Seconds for a handshake, which takes two round trips, and for a goodbye.
_HANDSHAKE_SECONDS = 10.0
_SHUTDOWN_SECONDS = 5.0
# Seconds until the next try where the process has no descriptors left, as asyncio's servers wait.
_PAUSE_SECONDS = 1.0


class SecuredPort:
    """Accepts connections; each counts at once, and has its handshake beside the others."""

    def __init__(
        self,
        listener: socket.socket,
        tls: ServingTls,
        doorman: Doorman,
        make: Callable[[], Connection],
    ) -> None:
        """Prepare; `start` begins.

        Args:
            listener: bound, not blocking.
            tls: see there.
            doorman: who counts connections.
            make: makes the client's end of a connection.
        """
        self._listener = listener
        self._tls = tls
        self._doorman = doorman
        self._make = make
        self._handshakes: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    def start(self, backlog: int) -> None:
        """Listen; `backlog` connections may wait to be accepted."""
        self._listener.listen(backlog)
        self._accepting = asyncio.create_task(self._accept(), name="accept")

    def close(self) -> None:
        """Accept no more; who has no TLS yet has asked nothing, and is hung up on."""
        if self._accepting is not None:
            self._accepting.cancel()
        for task in self._handshakes:
            task.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        with self._listener:
            while True:
                await self._accept_one(loop)

    async def _accept_one(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            accepted, (address, *_) = await loop.sock_accept(self._listener)
        except ConnectionError:
            return  # it was given up while it waited
        except OSError:
            await asyncio.sleep(_PAUSE_SECONDS)
            return
        connection = self._make()
        if self._doorman.admit(connection, address):
            # Without TLS there is no way to say why.
            accepted.close()
            return
        task = loop.create_task(self._secure(connection, accepted), name="handshake")
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _secure(self, connection: Connection, accepted: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._tls.in_force.grpc,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=_SHUTDOWN_SECONDS,
            )
        except (OSError, asyncio.CancelledError) as error:
            # ssl.SSLError and the time limit are OSErrors, too.
            accepted.close()
            self._doorman.fail(connection, str(error))
