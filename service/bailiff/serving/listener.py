"""Takes connections from the kernel: counted before anything else is done for them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from bailiff.line import Line
from bailiff.serving.bounds import Reason, written

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from bailiff.serving.bounds import Bounds, Refuse
    from bailiff.serving.places import Place, Places

# Seconds for what is taken from the kernel in one turn of the event loop, and how many of those are
# opened then, peers in turns: a flood leaves time to those that are open, and who comes behind it
# does not wait for all of it. The first piece of each is read at once, 256 KiB of a long body.
_BITE_SECONDS = 0.003
_BITE = 4
# How many are told a second why they are turned away, which takes five times as long as to hang up.
_TOLD = 500
# Where these are short, accept(2) fails for a connection that stays in the queue: asked again at
# once it would fail again. Seconds to wait, as asyncio does.
_SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE = 1.0
# Bytes that one who is turned away may have sent by then: a usual request.
_LEFT = 16 * 1024
# Seconds for a farewell in TLS.
_TLS_SHUTDOWN = 5.0


class Counts(Protocol):
    """Who counts what is refused, as `Refusals`."""

    def count(self, reason: Reason, client: str = "", detail: str = "") -> None:
        """One more, of this client."""


class Listener:
    """One listening socket, of any protocol; what uvicorn closes as if it were asyncio's Server."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[Place], asyncio.Protocol],
        places: Places,
        bounds: Bounds,
        refusals: Counts,
        context: Callable[[], ssl.SSLContext] | None = None,
        refuse: Refuse | None = None,
    ) -> None:
        """Prepare.

        Args:
            listening: bound, not blocking.
            protocol: makes that of a connection, given its place, which it holds from its
                `connection_made` to its `connection_lost`.
            places: where connections are counted.
            bounds: of the port.
            refusals: where refusals are counted.
            context: of TLS, for a connection that comes now; None: no TLS.
            refuse: how the port says why in HTTP; None: it hangs up without a word.
        """
        self._loop = asyncio.get_running_loop()
        self._listening, self._protocol, self._places = listening, protocol, places
        self._bounds, self._refuse, self._refusals = bounds, refuse, refusals
        self._context = context
        self._newcomers: Line[_Newcomer] = Line()
        self._opening: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None
        # The end of the present second, and how many were told in it why they were turned away.
        self._second, self._told = 0.0, 0

    def start(self, backlog: int) -> None:
        """Take connections; as many as `backlog` wait in the kernel."""
        # What is accepted inherits it.
        self._listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listening.listen(backlog)
        self._resume()

    async def finish(self) -> None:
        """Take no more, and open all that were let in, but for handshakes of TLS, which are cut."""
        self._take_no_more()
        if self._context is not None:
            self.close()
        while len(self._newcomers) or self._opening:
            await asyncio.gather(*self._opening, asyncio.sleep(0), return_exceptions=True)

    def close(self) -> None:
        """Take no more; those that are not open yet are cut."""
        self._take_no_more()
        while len(self._newcomers):
            self._newcomers.pop().make_room()
        for task in self._opening:
            task.cancel()

    async def wait_closed(self) -> None:
        """Until nothing of it runs."""
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _take_no_more(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        if self._listening.fileno() >= 0:
            self._loop.remove_reader(self._listening)
            self._listening.close()

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listening, self._take_some)

    def _take_some(self) -> None:
        until = monotonic() + _BITE_SECONDS
        while monotonic() < until:
            try:
                connection, address = self._listening.accept()
            except OSError as error:
                if error.errno in _SHORT:
                    self._take_a_rest(error)
                return
            self._let_in(connection, address[0])

    def _take_a_rest(self, error: OSError) -> None:
        self._refusals.count(Reason.OPEN_FILES, detail=str(error))
        self._loop.remove_reader(self._listening)
        self._pause = self._loop.call_later(_PAUSE, self._resume)

    def _let_in(self, connection: socket.socket, address: str) -> None:
        place = self._places.take(address)
        if isinstance(place, Reason):
            self._turn_away(connection, place, address)
            return
        connection.setblocking(False)
        place.holder = newcomer = _Newcomer(connection, place)
        if not len(self._newcomers):
            self._loop.call_soon(self._open_some)
        self._newcomers.add(place.peer or address, newcomer)

    def _open_some(self) -> None:
        for _ in range(min(_BITE, len(self._newcomers))):
            newcomer = self._newcomers.pop()
            if not newcomer.has_gone:
                newcomer.task = task = self._loop.create_task(self._open(newcomer))
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)
        if len(self._newcomers):
            self._loop.call_soon(self._open_some)

    def _turn_away(self, connection: socket.socket, reason: Reason, address: str) -> None:
        """Without waiting for anything; who is refused in TLS is not worth a handshake."""
        why = self._full(reason)
        self._refusals.count(reason, address, why)
        if self._refuse is not None and self._context is None and self._may_tell():
            with contextlib.suppress(OSError):
                connection.setblocking(False)
                connection.send(written(reason, *self._refuse(reason.status, why)))
                connection.shutdown(socket.SHUT_WR)
                # What was sent and is not taken would be answered by a reset, perhaps before the
                # 503.
                connection.recv(_LEFT)
        connection.close()

    def _may_tell(self) -> bool:
        """Whether few enough were told in this second."""
        now = monotonic()
        if now >= self._second:
            self._second, self._told = now + 1.0, 0
        self._told += 1
        return self._told <= _TOLD

    def _full(self, reason: Reason) -> str:
        if reason is Reason.CONNECTIONS:
            return f"{self._bounds.max_connections} connections are open already"
        return f"{self._bounds.max_connections_per_peer} connections of this address are open"

    async def _open(self, newcomer: _Newcomer) -> None:
        place, connection = newcomer.place, newcomer.connection
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._protocol(place), connection, **self._tls_options()
            )
        except BaseException as error:
            place.leave()
            connection.close()
            if not isinstance(error, Exception):
                raise
            self._has_failed(place, error)

    def _has_failed(self, place: Place, error: Exception) -> None:
        if not isinstance(error, OSError):  # as those of TLS and the time limit are
            about = {"message": "a connection was not opened", "exception": error}
            self._loop.call_exception_handler(about)
        elif self._context is not None:
            self._refusals.count(Reason.TLS_HANDSHAKE, place.address, str(error))

    def _tls_options(self) -> dict[str, Any]:
        if self._context is None:
            return {}
        return {
            "ssl": self._context(),
            "ssl_handshake_timeout": self._bounds.header_timeout_seconds,
            "ssl_shutdown_timeout": _TLS_SHUTDOWN,
        }


class _Newcomer:
    """Holds a place until its protocol does: with TLS, until the handshake is over."""

    def __init__(self, connection: socket.socket, place: Place) -> None:
        self.connection, self.place = connection, place
        self.task: asyncio.Task[None] | None = None
        self.has_gone = False

    def make_room(self) -> bool:
        self.has_gone = True
        self.place.leave()
        if self.task is None:
            self.connection.close()
        else:
            self.task.cancel()
        return True
