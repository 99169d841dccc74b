"""Who looks after all connections: how many, of whom, and how long they owe us something."""

from __future__ import annotations

import asyncio
import time
import weakref
from typing import TYPE_CHECKING

from bailiff.grpc_api.byte_shares import ByteShares
from bailiff.grpc_api.connection import Connection
from bailiff.grpc_api.pacing import Pacing
from bailiff.grpc_api.rarely import Rarely
from bailiff.serving import Bounds, Reason
from bailiff.serving.intake import Intake
from bailiff.serving.places import Places

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from bailiff.grpc_api.metrics import GrpcMetrics
    from bailiff.grpc_api.settings import GrpcSettings
    from bailiff.serving import ByteBudget, Peer

# Seconds between two rounds.
_ROUND = 0.5
# How much longer than a call's own time the rest of its message may keep coming: the call is told,
# and only a stream's, which nobody can tell from one that rests, ends with its connection.
_PATIENCE = 1.5
# What the log says, where it is not that a connection is refused.
_EVENTS = {
    Reason.TLS_HANDSHAKE: "TLS handshake failed",
    Reason.OPEN_FILES: "no connection can be taken",
}
_ENOUGH = frozenset({Reason.CONNECTIONS, Reason.PEER_CONNECTIONS})


class Doorman:
    """Knows all connections, and ends those that owe for too long.

    Attributes:
        bounds: of the port.
        places: those of its connections, handshakes included.
        shares: what connections hold of the budget.
        intake: in which they wait to be read from when they have sent much.
        now: tells seconds.
        rounds: what else is to be looked at in every round.
    """

    def __init__(
        self,
        settings: GrpcSettings,
        budget: ByteBudget,
        metrics: GrpcMetrics,
        is_proxy: Callable[[str], bool] = lambda _: False,
        now: Callable[[], float] = time.monotonic,
        intake: Intake | None = None,
    ) -> None:
        """Prepare.

        Args:
            settings: the bounds.
            budget: the bytes of the process.
            metrics: where connections are counted.
            is_proxy: tells the addresses of trusted proxies, who are bounded in all only.
            now: tells seconds.
            intake: in which connections wait to be read from that send much; None: one of its own.
        """
        self._settings = settings
        self._metrics = metrics
        self.bounds = Bounds(
            settings.max_connections,
            settings.max_connections_per_peer,
            header_timeout_seconds=settings.message_timeout_seconds,
        )
        self.places = Places(self.bounds, is_proxy)
        metrics.connections.set_function(lambda: self.places.taken)
        self.shares = ByteShares(budget)
        self.intake = intake or Intake()
        self.now = now
        self.rounds: list[Callable[[], None]] = []
        self._connections: dict[str, Connection] = {}
        self._all: set[Connection] = set()
        self._pacing: weakref.WeakValueDictionary[str, Pacing] = weakref.WeakValueDictionary()
        self._timer: asyncio.TimerHandle | None = None
        self._warn = Rarely(__name__)

    def open(self) -> None:
        """Begin the rounds, on the loop that runs."""
        self._timer = asyncio.get_running_loop().call_later(_ROUND, self._round)

    def close(self) -> None:
        """End the rounds and all connections."""
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self._all):
            connection.abort()

    def pacing_of(self, connection: Connection) -> Pacing:
        """That of its address, or of one of a proxy's own."""
        pacing = Pacing(self.now, asyncio.get_running_loop().call_later)
        peer = connection.counted_as
        return self._pacing.setdefault(peer, pacing) if peer else pacing

    def welcome(self, connection: Connection) -> None:
        """A connection is there, with TLS where that is spoken."""
        self._all.add(connection)

    def name(self, connection: Connection, name: str) -> None:
        """Grpcio calls it by this name."""
        if connection in self._all:
            connection.name = name
            self._connections[name] = connection

    def find(self, peer: str) -> Connection | None:
        """The connection that grpcio calls so (`ServicerContext.peer()`); None: none of ours."""
        return self._connections.get(peer)

    def forget(self, connection: Connection) -> None:
        """A connection has ended."""
        if connection not in self._all:
            return
        self._all.discard(connection)
        self._connections.pop(connection.name, None)
        self.shares.forget(connection)
        connection.place.leave()

    def count(self, reason: Reason, client: str = "", detail: str = "") -> None:
        """A connection was not let in, or none could be taken: see Listener."""
        self._metrics.connections_ended("refused" if reason in _ENOUGH else reason.value)
        event = _EVENTS.get(reason, "connection refused")
        self._warn(event, reason=detail or reason.value, address=client)

    def peer(self, name: str, now: dt.datetime) -> Peer | None:
        """Whose certificate was verified for a connection.

        Args:
            name: as grpcio calls it (`ServicerContext.peer()`).
            now: in UTC.

        Returns:
            None: nobody's, or it has expired since.
        """
        connection = self._connections.get(name)
        found = None if connection is None else connection.peer
        return found if found is not None and now <= found.expires_at else None

    def begin_answer(self, connection: Connection, key: object, length: int) -> None:
        """An answer is being written; `Connection.end_answer` tells when it is.

        Raises:
            OverloadedError: it has no place beside those that are not read.
        """
        self.shares.begin_answer(connection, key, length, self.now())

    def cut(self, connection: Connection) -> None:
        """Others need the bytes that it holds, and it owes us something for longest."""
        self.shares.drop(connection)
        self.end(connection, "bytes")

    def end(self, connection: Connection, reason: str, detail: str = "") -> None:
        """End a connection, for one of the reasons of the metric; the detail is for the log."""
        self._metrics.connections_ended(reason)
        told = {"detail": detail} if detail else {}
        self._warn("connection ended", reason=reason, address=connection.address, **told)
        connection.abort()

    def _end_heaviest(self) -> None:
        """End connections with the most answers, while there are too many that nobody reads."""
        answers = sum(one.unread() for one in self._all)
        for connection in sorted(self._all, key=Connection.unread, reverse=True):
            if answers <= self._settings.most_unread():
                break
            answers -= connection.unread()
            self.end(connection, "unread_answers")

    def _round(self) -> None:
        self.open()
        self.shares.feed()
        now = self.now()
        begun = now - _PATIENCE * self._settings.message_timeout_seconds
        written = now - self._settings.answer_timeout_seconds
        for connection in list(self._all):
            reason = _overdue(connection, begun, written, now)
            if reason:
                self.end(connection, reason)
        self._end_heaviest()
        for look in self.rounds:
            look()


def _overdue(connection: Connection, begun: float, written: float, now: float) -> str:
    """What a connection has owed for too long, if anything."""
    if connection.inbound.held and (connection.inbound.oldest() or begun) < begun:
        return "slow_message"
    if connection.waits_since() < begun:
        return "unserved"
    if connection.stalled_since is not None and connection.stalled_since < written:
        return "slow_reader"
    if connection.answers and next(iter(connection.answers.values()))[0] < written:
        return "slow_reader"
    return "slow_reader" if connection.unread_since(now) < written else ""
