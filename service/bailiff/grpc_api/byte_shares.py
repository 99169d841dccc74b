"""What connections hold of the budget: of each address a share, and who owes for long is cut off.

A connection holds messages that are not whole, and answers that are not read. Where there is no
room for more of a message, its connection is not read from until there is; an answer is refused.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from bailiff.grpc_api.errors import OverloadedError
from bailiff.serving.byte_budget import SMALL

if TYPE_CHECKING:
    from bailiff.grpc_api.connection import Connection
    from bailiff.serving import ByteBudget

# Bytes of messages that are not whole, and of an answer, that a connection holds for nothing: what
# most calls need never troubles the budget.
FREE_BYTES = 16 * 1024


class ByteShares:
    """Takes bytes of the budget for connections, and gives them back."""

    def __init__(self, budget: ByteBudget) -> None:
        """Nothing is held yet; of the budget one address may hold half."""
        self._budget = budget
        self._held_by: dict[str, int] = {}
        self._starved: dict[Connection, None] = {}

    def weigh(self, connection: Connection) -> None:
        """What it holds of messages that are not whole has changed."""
        more = _wanted(connection)
        if more <= 0:
            connection.taken += more
            self._give(connection, -more)
        elif self._take(connection, more):
            connection.taken += more
        elif connection not in self._starved and not connection.transport.is_closing():
            self._starved[connection] = None
            connection.starve(True)
        self._note_debt(connection)

    def begin_answer(self, connection: Connection, key: object, length: int, now: float) -> None:
        """An answer is being written; `end_answer` tells when it is.

        Raises:
            OverloadedError: it has no place beside those that are not read.
        """
        # grpcio sends a copy, and keeps what it was made of until that has gone.
        taken = 2 * length if length > FREE_BYTES else 0
        if taken and not self._take(connection, taken):
            raise OverloadedError("too many bytes of answers wait for those who asked")
        connection.answers[key] = (now, taken)
        self._note_debt(connection)

    def end_answer(self, connection: Connection, key: object) -> None:
        """An answer is written, or cannot be any more."""
        _, taken = connection.answers.pop(key)
        if taken:
            self._give(connection, taken)
            self._note_debt(connection)

    def forget(self, connection: Connection) -> None:
        """It has ended; of its answers grpcio tells when they have gone."""
        self._starved.pop(connection, None)
        self._give(connection, connection.taken)
        connection.taken = 0
        self._budget.settled(connection)

    def drop(self, connection: Connection) -> None:
        """Give back all that it holds, answers included: it is about to be ended."""
        self._starved.pop(connection, None)
        connection.answers = {key: (since, 0) for key, (since, _) in connection.answers.items()}
        connection.taken = 0
        self._give(connection, connection.in_all)

    def feed(self) -> None:
        """Read again from those for whom there is memory again."""
        for connection in list(self._starved):
            more = _wanted(connection)
            # To make room for one of them another may have been cut off, or that very one.
            if connection not in self._starved or (more > 0 and not self._take(connection, more)):
                continue
            connection.taken += max(0, more)
            self._starved.pop(connection, None)
            connection.starve(False)

    def _take(self, connection: Connection, count: int) -> bool:
        """Take bytes of the budget, within the share of the connection's address."""
        peer = connection.counted_as
        if peer and self._held_by.get(peer, 0) + count > self._budget.most // 2:
            return False
        # Many short ones of a connection are together as long as one.
        size = max(connection.in_all + count, connection.inbound.longest())
        if not self._budget.take(count, long=size > SMALL, peer=peer):
            return False
        # Anew: who is cut off to make room may be of this address, or this very connection.
        self._held_by[peer] = self._held_by.get(peer, 0) + count
        connection.in_all += count
        return True

    def _give(self, connection: Connection, count: int) -> None:
        if not count:
            return
        self._budget.give_back(count, connection.counted_as)
        connection.in_all -= count
        left = self._held_by[connection.counted_as] - count
        if left:
            self._held_by[connection.counted_as] = left
        else:
            del self._held_by[connection.counted_as]
        if self._starved:
            asyncio.get_running_loop().call_soon(self.feed)

    def _note_debt(self, connection: Connection) -> None:
        """Tell the budget whether it owes us something, and anew when that is something else."""
        since = connection.owes_since()
        if since != connection.in_debt_since:
            connection.in_debt_since = since
            self._budget.settled(connection)
            if since != math.inf:
                self._budget.owes(connection, connection.counted_as)


def _wanted(connection: Connection) -> int:
    """Bytes that it needs beyond those that it has for its messages."""
    return max(0, connection.held - FREE_BYTES) - connection.taken
