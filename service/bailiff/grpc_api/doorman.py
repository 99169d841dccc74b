"""Who looks after all connections: how many, of whom, what they hold, and what they owe."""

from __future__ import annotations

import asyncio
import time
import weakref
from typing import TYPE_CHECKING

from bailiff.grpc_api.connection import Connection
from bailiff.grpc_api.errors import OverloadedError
from bailiff.grpc_api.rarely import Rarely
from bailiff.grpc_api.unbegun import Unbegun

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from bailiff.grpc_api.metrics import GrpcMetrics
    from bailiff.grpc_api.settings import GrpcSettings
    from bailiff.serving import ByteBudget, Peer

# Bytes of messages that are not whole, and of an answer, that a connection holds for nothing: what
# most calls need never troubles the budget.
FREE_BYTES = 16 * 1024
# Seconds between two rounds.
_ROUND = 0.5
# How much longer than a call's own time the rest of its message may keep coming: the call is told,
# and only a stream's, which nobody can tell from one that rests, ends with its connection.
_PATIENCE = 1.5


class Doorman:
    """Counts connections and their bytes, and ends those that owe for too long.

    Attributes:
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
    ) -> None:
        """Prepare.

        Args:
            settings: the bounds.
            budget: the bytes of the process; of them one address may hold half.
            metrics: where connections are counted.
            is_proxy: tells the addresses of trusted proxies, who are bounded in all only.
            now: tells seconds.
        """
        self._settings = settings
        self._budget = budget
        self._metrics = metrics
        self._is_proxy = is_proxy
        self.now = now
        self.rounds: list[Callable[[], None]] = []
        self._connections: dict[str, Connection] = {}
        self._all: set[Connection] = set()
        self._by_address: dict[str, int] = {}
        self._unbegun: weakref.WeakValueDictionary[str, Unbegun] = weakref.WeakValueDictionary()
        self._held_by: dict[str, int] = {}
        self._starved: dict[Connection, None] = {}
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

    def admit(self, connection: Connection, address: str) -> str:
        """Count a new connection from an address; why it is refused, or empty."""
        connection.remote = address
        if len(self._all) >= self._settings.max_connections:
            return self._refuse("too many connections", address)
        if not self._is_proxy(address):
            of_address = self._by_address.get(address, 0)
            if of_address >= self._settings.max_connections_per_peer:
                return self._refuse("too many connections from this address", address)
            self._by_address[address] = of_address + 1
            connection.address = address
            calls = Unbegun(asyncio.get_running_loop().call_later)
            connection.inbound.unbegun = self._unbegun.setdefault(address, calls)
        self._all.add(connection)
        self._metrics.connections.inc()
        return ""

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
        self._metrics.connections.dec()
        self._connections.pop(connection.name, None)
        self._starved.pop(connection, None)
        self._give(connection, connection.taken)
        connection.taken = 0
        if connection.address:
            _less(self._by_address, connection.address, 1)

    def fail(self, connection: Connection, reason: str) -> None:
        """A connection has come to nothing before there was TLS."""
        self._metrics.connections_ended("tls_handshake")
        self._warn("TLS handshake failed", reason=reason, address=connection.address)
        self.forget(connection)

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

    def weigh(self, connection: Connection) -> None:
        """What it holds of messages that are not whole has changed."""
        more = max(0, connection.held - FREE_BYTES) - connection.taken
        if more <= 0:
            connection.taken += more
            self._give(connection, -more)
        elif self._take(connection, more):
            connection.taken += more
        elif connection not in self._starved:
            self._starved[connection] = None
            connection.starve(True)

    def begin_answer(self, connection: Connection, key: object, length: int) -> None:
        """An answer is being written; `Connection.end_answer` tells when it is.

        Raises:
            OverloadedError: it has no place beside those that are not read.
        """
        # grpcio sends a copy, and keeps what it was made of until that has gone.
        taken = 2 * length if length > FREE_BYTES else 0
        if taken and not self._take(connection, taken):
            raise OverloadedError("too many bytes of answers wait for those who asked")
        connection.answers[key] = (self.now(), taken)

    def give_back(self, connection: Connection, count: int) -> None:
        """Bytes of an answer that is written."""
        self._give(connection, count)

    def end(self, connection: Connection, reason: str) -> None:
        """End a connection that owes for too long."""
        self._metrics.connections_ended(reason)
        self._warn("connection ended", reason=reason, address=connection.address)
        connection.abort()

    def _refuse(self, reason: str, address: str) -> str:
        self._metrics.connections_ended("refused")
        self._warn("connection refused", reason=reason, address=address)
        return reason

    def _take(self, connection: Connection, count: int) -> bool:
        """Take bytes of the budget, within the share of the connection's address."""
        address = connection.address
        held = self._held_by.get(address, 0)
        if address and held + count > self._budget.most // 2:
            return False
        if not self._budget.take(count):
            return False
        self._held_by[address] = held + count
        return True

    def _give(self, connection: Connection, count: int) -> None:
        if count:
            self._budget.give_back(count)
            _less(self._held_by, connection.address, count)
            if self._starved:
                asyncio.get_running_loop().call_soon(self._feed)

    def _feed(self) -> None:
        """Read again from those for whom there is memory again."""
        for connection in list(self._starved):
            more = max(0, connection.held - FREE_BYTES) - connection.taken
            if more > 0 and not self._take(connection, more):
                continue
            connection.taken += max(0, more)
            del self._starved[connection]
            connection.starve(False)

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
        self._feed()
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
    if connection.stalled_since is not None and connection.stalled_since < written:
        return "slow_reader"
    if connection.answers and next(iter(connection.answers.values()))[0] < written:
        return "slow_reader"
    return "slow_reader" if connection.unread_since(now) < written else ""


def _less(counts: dict[str, int], key: str, by: int) -> None:
    left = counts[key] - by
    if left:
        counts[key] = left
    else:
        del counts[key]
