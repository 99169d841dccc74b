"""Who is answered in which turn of the event loop.

All that a process answers at once, it answers on one event loop. Whatever is ready there is done
in one turn of it, and meanwhile no connection is accepted, nothing is read, and no other face comes
round. So a turn takes in only as much work as keeps it short, and the peers take turns: many heavy
requests of one make its own wait, and hardly those of others.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from bailiff.addresses import peer_of
from bailiff.line import Line
from bailiff.turns import WaitedTooLongError

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds of work that one turn takes in: about what the heaviest takes that is done on the loop.
# A call of gRPC, and a new connection of HTTP, need five turns until they are answered.
TURN_SECONDS = 0.005
# How many of those that wait one turn calls: at first, and at most.
_FIRST, _MOST = 16, 256


class _Waiting(NamedTuple):
    """One that waits: what tells it that its turn may have come, and until when it does."""

    called: asyncio.Future[None]
    until: float


class Gate:
    """Lets work begin, on one event loop.

    Where nobody waits and the turn has time left, work begins at once. Else it waits in a line. A
    turn calls the first few of the line, as many as its quota; those of them begin that find time
    left, one after another. How the quota is set: `_learn`.

    Attributes:
        number: of the turn. What was let in while it was the same need not ask again.
    """

    def __init__(
        self, turn_seconds: float = TURN_SECONDS, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare.

        Args:
            turn_seconds: of work that one turn takes in; what begins within them is done.
            now: tells seconds.
        """
        self.number = 0
        self._seconds, self._now = turn_seconds, now
        self._line: Line[_Waiting] = Line()
        # Those that were called and found no time, in their order.
        self._again: list[tuple[str, _Waiting]] = []
        self._is_looking = False
        self._until = 0.0
        # How many a turn calls, how many the present one has called, and of those how many began.
        self._quota, self._called, self._begun = _FIRST, 0, 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line)

    def enter(self) -> bool:
        """Whether work may begin at once; where not, `wait` is to be awaited."""
        if self._is_looking:
            return not len(self._line) and self._now() < self._until
        self._look()
        self._until = self._now() + self._seconds
        return True

    async def wait(self, address: str, longest: float) -> None:
        """Until it is the turn of this address.

        Args:
            address: of who asks.
            longest: seconds that it may wait.

        Raises:
            WaitedTooLongError: its turn did not come in time.
        """
        peer, until = peer_of(address), self._now() + longest
        called = asyncio.get_running_loop().create_future()
        self._line.add(peer, _Waiting(called, until))
        if not self._is_looking:
            self._look()
        await called
        while (now := self._now()) >= self._until and now <= until:
            # Those before it have taken the time of this turn.
            called = asyncio.get_running_loop().create_future()
            self._again.append((peer, _Waiting(called, until)))
            await called
        if until < now:
            raise WaitedTooLongError(longest)
        self._begun += 1

    def _look(self) -> None:
        self._is_looking = True
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Once in every turn in which there is something to do here."""
        self.number += 1
        self._learn()
        self._called = self._begun = 0
        while self._again:
            self._line.put_back(*self._again.pop())
        if not len(self._line):
            self._is_looking = False
            return
        loop = asyncio.get_running_loop()
        # What is called soon is called in this order: the clock is set, those that are called
        # begin, and `_turn` again.
        loop.call_soon(self._set_clock)
        self._call()
        loop.call_soon(self._turn)

    def _set_clock(self) -> None:
        self._until = self._now() + self._seconds

    def _call(self) -> None:
        now = self._now()
        while len(self._line) and self._called < self._quota:
            one = self._line.pop()
            if not one.called.done():  # else it was cancelled
                one.called.set_result(None)
                self._called += one.until >= now  # who has waited too long takes no time

    def _learn(self) -> None:
        """Set the quota, which is how many this turn calls, by what became of those called last.

        Where some were called and found no time left in their turn, calling them was wasted: the
        quota falls to the number of those that began, or to 1. Where the whole quota began and
        more than half of the turn's time was left, it doubles, up to 256.

        As with turns of 5 ms, while many wait: the first turn calls 16. Each works for 0.1 ms, so
        all begin and 3.4 ms are left. The second calls 32, which leave 1.8 ms, so the third calls
        32 again. Of those each works for 2 ms: three begin, after 0, 2 and 4 ms, and the other 29
        find no time and are put back. The fourth turn calls 3.
        """
        if not self._called:
            return
        if self._begun < self._called:
            self._quota = max(1, self._begun)
        elif self._begun == self._quota and self._until - self._now() > self._seconds / 2:
            self._quota = min(_MOST, 2 * self._quota)
