"""How many bytes of bodies and answers a process may hold at a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

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
# How many times as much one has to hold as another wants in all, to be cut off for its sake however
# short it has owed. Less, and two of about the same would cut each other off in turns.
_FAR_MORE = 2
# As whose bytes those count of what is being answered, which clients have no hand in any more.
_WORK = "work"


class Debtor(Protocol):
    """A connection that owes us something: the rest of a body, or the reading of an answer."""

    def cut(self) -> None:
        """Give back all that is held for it, and hang up."""


class _Owed(NamedTuple):
    """Since when somebody owes us something, and as whose its bytes count."""

    since: float
    peer: str


class ByteBudget:
    """Counts bytes that clients make a process hold: messages under way, in and out.

    One for all ports of a process, since all of them draw on the same memory. To be used in one
    thread. Where bytes are short, who has owed us bytes, or has not read ours, for longest is cut
    off first: so those who stall cannot take the place of those who do not. Who stalls and comes
    back at once has never owed for long. So then those are cut off who owe us something and whose
    peer holds far more than who wants bytes now: whoever needs little gets it.

    Attributes:
        most: bytes that may be held at a time.
        taken: bytes that are held now.
    """

    __slots__ = ("_clock", "_debtors", "_for_long", "_held", "_spared", "most", "taken")

    def __init__(
        self,
        most: int = DEFAULT_BYTES,
        spared_seconds: float = _SPARED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is held yet.

        Args:
            most: 1 and up.
            spared_seconds: whoever has owed us something for no longer is not cut off, unless its
                peer holds far more than another.
            clock: seconds.
        """
        self.most = most
        self.taken = 0
        self._for_long = most - most // _KEPT_BACK
        self._spared, self._clock = spared_seconds, clock
        self._debtors: dict[Debtor, _Owed] = {}
        self._held: dict[str, int] = {}

    def take(self, count: int, *, long: bool = False, peer: str = _WORK) -> bool:
        """Hold so many bytes more; False: they do not fit, and none is taken.

        Args:
            count: bytes.
            long: they belong to a message of more than SMALL bytes, of which all together leave a
                quarter of the bytes to others.
            peer: whose they are, by `peer_of`; "" of a trusted proxy, who speaks for many.
        """
        room = self._for_long if long else self.most
        if self.taken + count > room and not self._reclaim(count, room, peer):
            return False
        self._hold(count, peer)
        return True

    def check_room(self, count: int) -> None:
        """Make sure that a message of so many bytes could be taken now.

        Raises:
            OverloadedError: it could not.
        """
        if not self.take(count, long=count > SMALL):
            raise OverloadedError
        self.give_back(count)

    def give_back(self, count: int, peer: str = _WORK) -> None:
        """Hold so many bytes less: as many as were taken for this peer, once."""
        self._hold(-count, peer)

    def owes(self, debtor: Debtor, peer: str = "") -> None:
        """From now on it owes us something, unless it did already; `peer`: as for `take`."""
        self._debtors.setdefault(debtor, _Owed(self._clock(), peer))

    def settled(self, debtor: Debtor) -> None:
        """It owes us nothing any more."""
        self._debtors.pop(debtor, None)

    def has_owed_for_long(self, debtor: Debtor) -> bool:
        """Whether it has owed us something for longer than anybody is spared."""
        owed = self._debtors.get(debtor)
        return owed is not None and owed.since < self._clock() - self._spared

    def _hold(self, count: int, peer: str) -> None:
        self.taken += count
        held = self._held.get(peer, 0) + count
        if held:
            self._held[peer] = held
        else:
            self._held.pop(peer, None)

    def _reclaim(self, count: int, room: int, peer: str) -> bool:
        """Cut debtors off, those of longest standing first, until so many bytes fit."""
        if count > room:
            return False
        latest = self._clock() - self._spared
        while self._debtors and self.taken + count > room:
            debtor, owed = next(iter(self._debtors.items()))
            if owed.since > latest:
                break
            self._cut(debtor)
        if self.taken + count > room and peer:
            self._level(count, room, peer)
        return self.taken + count <= room

    def _level(self, count: int, room: int, peer: str) -> None:
        """Cut those off whose peers hold far more than this one wants in all, the most first."""
        least = _FAR_MORE * (self._held.get(peer, 0) + count)
        of_peers: dict[str, list[Debtor]] = {}
        for debtor, owed in self._debtors.items():
            if owed.peer:
                of_peers.setdefault(owed.peer, []).append(debtor)
        for heavy in sorted(of_peers, key=lambda one: self._held.get(one, 0), reverse=True):
            for debtor in of_peers[heavy]:
                if self.taken + count <= room or self._held.get(heavy, 0) < least:
                    break
                self._cut(debtor)

    def _cut(self, debtor: Debtor) -> None:
        if self._debtors.pop(debtor, None) is not None:
            debtor.cut()
