"""Takes connections from the kernel: counted before anything else is done for them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
from typing import TYPE_CHECKING, Any

from bailiff.serving.bounds import Reason, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.serving.bounds import Bounds, Refuse
    from bailiff.serving.places import Place, Places
    from bailiff.serving.refusals import Refusals
    from bailiff.serving.tls import ServingTls

# Connections taken in one go: a flood of them leaves turns to those that are open. About 1 ms.
_BITE = 16
# Where these are short, accept(2) fails for a connection that stays in the queue: asked again at
# once it would fail again. Seconds to wait, as asyncio does.
_SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE = 1.0
# Bytes that one who is turned away may have sent by then: a usual request.
_LEFT = 16 * 1024
# Seconds for a farewell in TLS.
_TLS_SHUTDOWN = 5.0


class Listener:
    """One listening socket; uvicorn takes it for an asyncio.Server that it closes."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[Callable[[], None]], asyncio.Protocol],
        places: Places,
        bounds: Bounds,
        refuse: Refuse,
        refusals: Refusals,
        tls: ServingTls | None,
    ) -> None:
        """Prepare.

        Args:
            listening: bound, not blocking.
            protocol: makes that of a connection, given what to call when the connection has ended.
            places: where connections are counted.
            bounds: of the port.
            refuse: how the port refuses.
            refusals: where refusals are counted.
            tls: what connections are to speak, each by what is in force then; None: no TLS.
        """
        self._loop = asyncio.get_running_loop()
        self._listening, self._protocol, self._places = listening, protocol, places
        self._bounds, self._refuse, self._refusals = bounds, refuse, refusals
        self._tls = tls
        self._opening: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None

    def start(self, backlog: int) -> None:
        """Take connections; as many as `backlog` wait in the kernel."""
        # What is accepted inherits it.
        self._listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listening.listen(backlog)
        self._resume()

    def close(self) -> None:
        """Take no more; handshakes under way are cut."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._listening)
        for task in self._opening:
            task.cancel()

    async def wait_closed(self) -> None:
        """Until nothing of it runs."""
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listening, self._take_some)

    def _take_some(self) -> None:
        for _ in range(_BITE):
            try:
                connection, address = self._listening.accept()
            except OSError as error:
                if error.errno in _SHORT:
                    self._take_a_rest(error)
                return
            self._admit(connection, address[0])

    def _take_a_rest(self, error: OSError) -> None:
        self._refusals.count(Reason.OPEN_FILES, detail=str(error))
        self._loop.remove_reader(self._listening)
        self._pause = self._loop.call_later(_PAUSE, self._resume)

    def _admit(self, connection: socket.socket, address: str) -> None:
        connection.setblocking(False)
        place = self._places.take(address)
        if isinstance(place, Reason):
            self._turn_away(connection, place, address)
            return
        task = self._loop.create_task(self._open(connection, place, address))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def _turn_away(self, connection: socket.socket, reason: Reason, address: str) -> None:
        """Without waiting for anything; who is refused in TLS is not worth a handshake."""
        self._refusals.count(reason, address)
        with contextlib.suppress(OSError):
            if self._tls is None:
                connection.send(written(reason, *self._refuse(reason.status, self._full(reason))))
            connection.shutdown(socket.SHUT_WR)
            # What was sent and is not taken would be answered by a reset, perhaps before the 503.
            connection.recv(_LEFT)
        connection.close()

    def _full(self, reason: Reason) -> str:
        if reason is Reason.CONNECTIONS:
            return f"{self._bounds.max_connections} connections are open already"
        return f"{self._bounds.max_connections_per_peer} connections of this address are open"

    async def _open(self, connection: socket.socket, place: Place, address: str) -> None:
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._protocol(place.leave), connection, **self._tls_options()
            )
        except BaseException as error:
            place.leave()
            connection.close()
            if not isinstance(error, (OSError, ssl.SSLError)):
                raise
            if self._tls is not None:
                self._refusals.count(Reason.TLS_HANDSHAKE, address, str(error))

    def _tls_options(self) -> dict[str, Any]:
        if self._tls is None:
            return {}
        return {
            "ssl": self._tls.in_force.http,
            "ssl_handshake_timeout": self._bounds.header_timeout_seconds,
            "ssl_shutdown_timeout": _TLS_SHUTDOWN,
        }
