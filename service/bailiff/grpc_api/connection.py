"""One connection of a client, led through to grpcio."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, cast

from bailiff.grpc_api.frames import FramingError, Inbound, Outbound
from bailiff.serving.intake import LONG_PIECE
from bailiff.serving.peers import peer_of_connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.grpc_api.doorman import Doorman
    from bailiff.serving import Peer
    from bailiff.serving.places import Place

# Bytes read before grpcio's end is there, which takes one turn of the event loop.
_EARLY = 256 * 1024


class Connection(asyncio.Protocol):
    """The client's end.

    Attributes:
        place: among the connections of the port.
        peer: whose certificate TLS has verified; None: nobody's.
        address: of the client's host.
        counted_as: the name under which that is counted with others; empty for a trusted proxy,
            which speaks for many.
        name: what grpcio calls its peer.
        transport: to the client.
        inbound: what the client has sent.
        taken: bytes of the budget that the connection has for messages that are not whole.
        in_all: the same, and those that it has for answers.
        in_debt_since: since when it owes us something, as the budget knows it; infinity: nothing.
        active: calls that are read or answered here.
        answers: what is being written to it: since when, and bytes taken of the budget.
        stalled_since: when the client ceased to read; None: it reads.
    """

    def __init__(
        self, doorman: Doorman, dial: Callable[[Connection], None], place: Place, *, secured: bool
    ) -> None:
        """Prepare.

        Args:
            doorman: who looks after it.
            dial: leads the connection to grpcio.
            place: see there.
            secured: TLS is spoken before it is made.
        """
        self._doorman = doorman
        self._dial = dial
        self._secured = secured
        self.place = place
        self.peer: Peer | None = None
        self.address, self.counted_as = place.address, place.peer
        self.name = ""
        self.transport = cast("asyncio.Transport", None)
        self._inner: _Inner | None = None
        # What is not led in yet, and when the first of it came.
        self._waiting = bytearray()
        self._waits_since = 0.0
        self._is_blocked = self._is_starved = self._is_held = self._has_sent_much = False
        self.inbound = Inbound(doorman.pacing_of(self))
        self._outbound = Outbound(self.inbound.end)
        self.taken = self.in_all = 0
        self.in_debt_since = math.inf
        self.answers: dict[object, tuple[float, int]] = {}
        self.active = 0
        self.stalled_since: float | None = None
        # Streams that had ended when it was seen to leave answers unread, and when that was.
        self._unread_from = (0, math.inf)

    @property
    def is_proxy(self) -> bool:
        """Whether it is a trusted proxy's, which speaks for many."""
        return not self.counted_as

    @property
    def held(self) -> int:
        """Bytes that wait here or in grpcio, and that nobody can do anything with yet."""
        return self.inbound.held + len(self._waiting)

    def waits_since(self) -> float:
        """Since when something waits to be led in, or a call to be begun; infinity: nothing does.

        grpcio may never begin it; and of a client that has gone we hear nothing while we do not
        read what it has left.
        """
        since = next(iter(self.inbound.begun.values()), math.inf)
        return min(since, self._waits_since) if self._waiting else since

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
        self.place.holder = self
        if self._secured:
            self.peer = peer_of_connection(transport)
        self._doorman.welcome(self)
        self._dial(self)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self._inner is None or self._waiting:
            self._wait(data)
        else:
            self._lead_in(data, self._doorman.now())
        if len(data) >= LONG_PIECE and not self._has_sent_much:
            self._has_sent_much = True
            self._read_or_not()
            self._doorman.intake.wait(self.address, len(data), self._read_on)

    def _read_on(self) -> None:
        """It is its turn again, after others that have sent much."""
        self._has_sent_much = False
        self._read_or_not()

    def _wait(self, data: bytes) -> None:
        if not self._waiting:
            self._waits_since = self._doorman.now()
        self._waiting += data
        self._doorman.shares.weigh(self)
        self._read_or_not()

    def _lead_in(self, data: bytes, came: float) -> None:
        """Give grpcio as much as there is room for."""
        inner = cast("_Inner", self._inner)
        inbound = self.inbound
        try:
            led = inbound.feed(data, came)
        except FramingError as error:
            self._doorman.end(self, "malformed", str(error))
            return
        if led == len(data):
            inner.transport.write(data)
        else:
            inner.transport.write(data[:led])
            self._waiting, self._waits_since = bytearray(data[led:]), came
            self._is_held = True
            self._read_or_not()
            inbound.pacing.hold(self)
        if inbound.held or self._waiting or self.taken:
            self._doorman.shares.weigh(self)

    def lead_on(self) -> None:
        """There is room for calls, or for more of them."""
        data, self._waiting = bytes(self._waiting), bytearray()
        self._is_held = False
        self._lead_in(data, self._waits_since)
        self._read_or_not()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """The client has gone."""
        self.inbound.pacing.forget(self)
        self.inbound.give_up()
        self._doorman.forget(self)
        # The two hold each other: neither would be freed before a garbage collection.
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.transport.abort()

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
            self._doorman.shares.weigh(self)

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
        is_early = self._inner is None and len(self._waiting) > _EARLY
        if self._is_blocked or self._is_starved or self._is_held or self._has_sent_much or is_early:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def end_answer(self, key: object) -> None:
        """An answer is written, or cannot be any more."""
        self._doorman.shares.end_answer(self, key)

    def owes_since(self) -> float:
        """Since when its client owes us the rest of a message, or the reading of an answer.

        Of what counts in the budget; infinity: nothing.
        """
        if not self.in_all or self.transport.is_closing():
            return math.inf
        message = self.inbound.oldest() if self.taken else None
        answer = next((since for since, taken in self.answers.values() if taken), math.inf)
        return answer if message is None else min(message, answer)

    def make_room(self) -> bool:
        """End it for another's sake, unless a call is open or an answer still on its way.

        Calls that wait here to be led in have cost us nothing yet.
        """
        if self.inbound.open() or self.transport.get_write_buffer_size():
            return False
        self._doorman.end(self, "room")
        self.place.leave()
        return True

    def cut(self) -> None:
        """Give back all that is held for it, and hang up: others need the room."""
        self._doorman.cut(self)

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
