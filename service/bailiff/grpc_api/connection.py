"""One connection of a client, led through to grpcio."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, cast

from bailiff.grpc_api.frames import Inbound, Outbound
from bailiff.grpc_api.unbegun import Unbegun
from bailiff.serving.peers import peer_of_connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.grpc_api.doorman import Doorman
    from bailiff.serving import Peer

# Bytes read before grpcio's end is there, which takes one turn of the event loop.
_EARLY = 256 * 1024


class Connection(asyncio.Protocol):
    """The client's end.

    Attributes:
        peer: whose certificate TLS has verified; None: nobody's.
        address: of the client's host; empty for a trusted proxy, which speaks for many.
        remote: the same, of a trusted proxy too: who asks through it is known by nothing else.
        name: what grpcio calls its peer.
        transport: to the client.
        inbound: what the client has sent.
        taken: bytes of the budget that the connection has for messages that are not whole.
        active: calls that are read or answered here.
        answers: what is being written to it: since when, and bytes taken of the budget.
        stalled_since: when the client ceased to read; None: it reads.
    """

    def __init__(self, doorman: Doorman, dial: Callable[[Connection], None], secured: bool) -> None:
        """Prepare.

        Args:
            doorman: who looks after it.
            dial: leads the connection to grpcio.
            secured: TLS is spoken before it is made.
        """
        self._doorman = doorman
        self._dial = dial
        self._secured = secured
        self.peer: Peer | None = None
        self.address = self.remote = ""
        self.name = ""
        self.transport = cast("asyncio.Transport", None)
        self._inner: _Inner | None = None
        # What is not led in yet, and when the first of it came.
        self._waiting = bytearray()
        self._waits_since = 0.0
        self._is_blocked = self._is_starved = self._is_held = False
        self.inbound = Inbound(Unbegun(asyncio.get_running_loop().call_later))
        self._outbound = Outbound(self.inbound.end)
        self.taken = 0
        self.answers: dict[object, tuple[float, int]] = {}
        self.active = 0
        self.stalled_since: float | None = None
        # Streams that had ended when it was seen to leave answers unread, and when that was.
        self._unread_from = (0, math.inf)

    @property
    def held(self) -> int:
        """Bytes that wait here or in grpcio, and that nobody can do anything with yet."""
        return self.inbound.held + len(self._waiting)

    def unread(self) -> int:
        """Answers that grpcio has, and that wait until the client reads."""
        return max(0, self.inbound.open() - len(self.inbound.begun) - self.active)

    def unread_since(self, now: float) -> float:
        """Since when none of them was read, as far as was looked; infinity: there are none."""
        ended, since = self._unread_from
        if not self.unread():
            since = math.inf
        elif ended != self.inbound.ended or since == math.inf:
            since = now
        self._unread_from = (self.inbound.ended, since)
        return since

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        self.transport = cast("asyncio.Transport", transport)
        if self._secured:
            # It was admitted before its handshake.
            self.peer = peer_of_connection(transport)
            self._dial(self)
            return
        remote = transport.get_extra_info("peername")
        if self._doorman.admit(self, str(remote[0]) if remote else ""):
            # To a client a failed attempt: its calls end as UNAVAILABLE, and it comes again after
            # its backoff. A GOAWAY would let them wait, since the connection had been there.
            self.transport.abort()
            return
        self._dial(self)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self._inner is None or self._waiting:
            self._wait(data)
        else:
            self._lead_in(data, self._doorman.now())

    def _wait(self, data: bytes) -> None:
        if not self._waiting:
            self._waits_since = self._doorman.now()
        self._waiting += data
        self._doorman.weigh(self)
        if len(self._waiting) > _EARLY:
            self.transport.pause_reading()

    def _lead_in(self, data: bytes, came: float) -> None:
        """Give grpcio as much as there is room for."""
        inner = cast("_Inner", self._inner)
        inbound = self.inbound
        led = inbound.feed(data, came)
        if led == len(data):
            inner.transport.write(data)
        else:
            inner.transport.write(data[:led])
            self._waiting, self._waits_since = bytearray(data[led:]), came
            self._is_held = True
            self._read_or_not()
            inbound.unbegun.hold(self)
        if inbound.held or self._waiting or self.taken:
            self._doorman.weigh(self)

    def lead_on(self) -> None:
        """There is room for calls, or for more of them."""
        data, self._waiting = bytes(self._waiting), bytearray()
        self._is_held = False
        self._lead_in(data, self._waits_since)
        self._read_or_not()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """The client has gone."""
        self.inbound.unbegun.forget(self)
        self.inbound.give_up()
        self._doorman.forget(self)
        if self._inner is not None:
            self._inner.transport.abort()

    def pause_writing(self) -> None:
        """The client does not read, so nothing more is taken from grpcio."""
        self.stalled_since = self._doorman.now()
        if self._inner is not None:
            self._inner.transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads again."""
        self.stalled_since = None
        if self._inner is not None:
            self._inner.transport.resume_reading()

    def lead_to(self, inner: _Inner) -> None:
        """Grpcio's end is there."""
        if self.transport.is_closing():
            inner.transport.abort()
            return
        self._inner = inner
        self.lead_on()

    def answer(self, data: bytes) -> None:
        """Grpcio has written something."""
        self._outbound.feed(data)
        self.transport.write(data)
        if self.taken:
            self._doorman.weigh(self)

    def block(self, blocked: bool) -> None:
        """Grpcio takes nothing more for now, or takes it again."""
        self._is_blocked = blocked
        self._read_or_not()

    def starve(self, starved: bool) -> None:
        """There is no memory for what it sends, or there is again."""
        self._is_starved = starved
        self._read_or_not()

    def _read_or_not(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_blocked or self._is_starved or self._is_held:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def end_answer(self, key: object) -> None:
        """An answer is written, or cannot be any more."""
        _, taken = self.answers.pop(key)
        if taken:
            self._doorman.give_back(self, taken)

    def finish(self) -> None:
        """Nothing more comes from grpcio; what is written still goes to the client."""
        if self.stalled_since is None:
            self.stalled_since = self._doorman.now()
        self.transport.close()

    def abort(self) -> None:
        """End it at once, both ways."""
        if self.transport is not None:
            self.transport.abort()


class _Inner(asyncio.Protocol):
    """grpcio's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.transport = cast("asyncio.Transport", None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._connection.lead_to(self)

    def data_received(self, data: bytes) -> None:
        self._connection.answer(data)

    def pause_writing(self) -> None:
        self._connection.block(True)

    def resume_writing(self) -> None:
        self._connection.block(False)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._connection.finish()


def inner_end(connection: Connection) -> asyncio.Protocol:
    """The protocol of grpcio's end of a connection."""
    return _Inner(connection)
