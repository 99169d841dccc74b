"""Whose question to the API server is next, and who waits for that no longer."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bailiff.access.errors import QuotaError, UnavailableError
from bailiff.line import Line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.access.settings import AccessSettings

V = TypeVar("V")

# After which it is worth asking again: answers of the API server take milliseconds.
RETRY_SECONDS = 1
_CROWDED = "too many callers wait for the API server to say who they are, or what they may"


class Turns:
    """How many questions are asked at a time, of all kinds together, and how many may wait.

    Peers take turns, so that none is in everybody's way by tokens that it makes up. What is asked
    about callers who are known waits in a line of its own, and where both wait the two take turns:
    however many strangers come, and from however many addresses, they keep nobody out who is in.
    """

    def __init__(self, settings: AccessSettings) -> None:
        """Nobody waits yet."""
        bounds = (settings.max_waiting, settings.max_waiting_per_peer)
        self._seconds = settings.review_timeout_seconds
        self._free = settings.max_reviews
        self._strangers, self._known = _Waiting(*bounds), _Waiting(*bounds)
        # The line that is next goes first.
        self._lines = (self._known, self._strangers)

    async def take(self, peer: str, work: Callable[[], Awaitable[V]], *, known: bool = False) -> V:
        """What some work comes to, once it has its turn.

        Args:
            peer: whose it is, by `peer_of`; of a caller who is known its name.
            work: to be done.
            known: whether it is about such a caller.

        Raises:
            UnavailableError: too many wait already, or it was not done in time.
            QuotaError: too many of this peer wait.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self._begin(self._known if known else self._strangers, peer)
                try:
                    return await work()
                finally:
                    self._end()
        except TimeoutError as error:
            why = f"the API server has not said within {self._seconds:g} s who asks or what it may"
            raise UnavailableError(why, RETRY_SECONDS) from error

    async def _begin(self, line: _Waiting, peer: str) -> None:
        if self._free:  # then nobody waits
            self._free -= 1
            return
        waiter = line.add(peer)
        try:
            await waiter.called
        except asyncio.CancelledError:
            if waiter.called.cancelled():
                line.leave(waiter)
            elif waiter.called.exception() is None:
                self._end()  # it had its turn, and has no use for it any more
            raise

    def _end(self) -> None:
        """A turn is over: it goes to who is next."""
        first, second = self._lines
        if first.call():
            self._lines = second, first
        elif not second.call():
            self._free += 1


class _Waiter(NamedTuple):
    """One that waits: whose it is, and what tells it that its turn has come."""

    peer: str
    called: asyncio.Future[None]


class _Waiting:
    """Those who wait in one line; where it is full, not those who have few there make room."""

    def __init__(self, most: int, most_of_peer: int) -> None:
        """Nobody waits yet; so many may at a time, and of one peer."""
        self._most, self._most_of_peer = most, most_of_peer
        self._line: Line[_Waiter] = Line()
        self._numbers: Counter[str] = Counter()

    def add(self, peer: str) -> _Waiter:
        """One more; raises UnavailableError and QuotaError, see Turns."""
        if self._numbers[peer] >= self._most_of_peer:
            why = "too many requests of this address, or of this caller, wait for the API server"
            raise QuotaError(why, RETRY_SECONDS)
        if len(self._line) >= self._most:
            self._make_room(self._numbers[peer])
        waiter = _Waiter(peer, asyncio.get_running_loop().create_future())
        self._line.add(peer, waiter)
        self._numbers[peer] += 1
        return waiter

    def call(self) -> bool:
        """Tell the next one that it has its turn; False: nobody waits."""
        while len(self._line):
            waiter = self._line.pop()
            self._count_out(waiter.peer)
            if not waiter.called.done():  # else it was cancelled, and has not left yet
                waiter.called.set_result(None)
                return True
        return False

    def leave(self, waiter: _Waiter) -> None:
        """It waits no longer, if it did."""
        if self._line.remove(waiter.peer, waiter):
            self._count_out(waiter.peer)

    def _make_room(self, number: int) -> None:
        """The last one goes of the peer with most, for one of a peer that has this number.

        That has to be two fewer, or the two would drive each other out in turns.
        """
        heaviest, most = max(self._numbers.items(), key=lambda one: one[1])
        if number + 1 >= most:
            raise UnavailableError(_CROWDED, RETRY_SECONDS)
        waiter = self._line.pop_last(heaviest)
        self._count_out(heaviest)
        if not waiter.called.done():
            waiter.called.set_exception(UnavailableError(_CROWDED, RETRY_SECONDS))

    def _count_out(self, peer: str) -> None:
        self._numbers[peer] -= 1
        if not self._numbers[peer]:
            del self._numbers[peer]
