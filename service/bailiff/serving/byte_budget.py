"""How many bytes of bodies and answers a process may hold at a time."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Protocol

from bailiff.serving.bounds import OverloadedError

if TYPE_CHECKING:
    from collections.abc import Callable

# A quarter of the 512 MiB that the chart gives a pod of the decision API.
DEFAULT_BYTES = 128 * 1024 * 1024
# Longer messages leave room for those up to here, as nearly all questions are.
SMALL = 256 * 1024
# What is left to them is the budget divided by this: by default 128 of the longest, or ten thousand
# of the usual length.
_KEPT_BACK = 4
# Seconds for which nobody is cut off for others' sake: time to send or read some MiB.
_SPARED_SECONDS = 1.0


class Debtor(Protocol):
    """A connection that owes us something: the rest of a body, or the reading of an answer."""

    def cut(self) -> None:
        """Give back all that is held for it, and hang up."""


class ByteBudget:
    """Counts bytes that clients make a process hold: messages under way, in and out.

    One for all ports of a process, since all of them draw on the same memory. To be used in one
    thread. Where bytes are short, who has owed us bytes, or has not read ours, for longest is cut
    off first: so those who stall cannot take the place of those who do not.

    Attributes:
        most: bytes that may be held at a time.
        taken: bytes that are held now.
    """

    __slots__ = ("_clock", "_debtors", "_for_long", "_spared", "most", "taken")

    def __init__(
        self,
        most: int = DEFAULT_BYTES,
        spared_seconds: float = _SPARED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is held yet.

        Args:
            most: 1 and up.
            spared_seconds: whoever has owed us something for no longer is not cut off.
            clock: seconds.
        """
        self.most = most
        self.taken = 0
        self._for_long = most - most // _KEPT_BACK
        self._spared, self._clock = spared_seconds, clock
        self._debtors: dict[Debtor, float] = {}

    def take(self, count: int, *, long: bool = False) -> bool:
        """Hold so many bytes more; False: they do not fit, and none is taken.

        Args:
            count: bytes.
            long: they belong to a message of more than SMALL bytes, of which all together leave a
                quarter of the bytes to others.
        """
        room = self._for_long if long else self.most
        if self.taken + count > room and not self._reclaim(count, room):
            return False
        self.taken += count
        return True

    def check_room(self, count: int) -> None:
        """Make sure that a message of so many bytes could be taken now.

        Raises:
            OverloadedError: it could not.
        """
        if not self.take(count, long=count > SMALL):
            raise OverloadedError
        self.give_back(count)

    def give_back(self, count: int) -> None:
        """Hold so many bytes less: as many as were taken, once."""
        self.taken -= count

    def owes(self, debtor: Debtor) -> None:
        """From now on it owes us something, unless it did already."""
        self._debtors.setdefault(debtor, self._clock())

    def settled(self, debtor: Debtor) -> None:
        """It owes us nothing any more."""
        self._debtors.pop(debtor, None)

    def has_owed_for_long(self, debtor: Debtor) -> bool:
        """Whether it has owed us something for longer than anybody is spared."""
        return self._debtors.get(debtor, math.inf) < self._clock() - self._spared

    def _reclaim(self, count: int, room: int) -> bool:
        """Cut debtors off, those of longest standing first, until so many bytes fit."""
        if count > room:
            return False
        latest = self._clock() - self._spared
        while self._debtors and self.taken + count > room:
            debtor, since = next(iter(self._debtors.items()))
            if since > latest:
                return False
            del self._debtors[debtor]
            debtor.cut()
        return self.taken + count <= room
