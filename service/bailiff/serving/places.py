"""How many connections there are, in all and of one peer."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bailiff.addresses import peer_of
from bailiff.serving.bounds import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.serving.bounds import Bounds


class _Reserve(NamedTuple):
    """The last places, for peers that have little.

    Attributes:
        last: which part of all places.
        share: how much of an equal share of all places one may have who gets another of these.
    """

    last: float
    share: float


# Seconds for which a connection has done nothing, where it makes room for an address that has none:
# enough for whoever has just come to ask, also where its handshake waits for those of a flood.
QUIET_SECONDS = 2.0
# How many a newcomer has looked at. Each that has done something is not looked at again for as long
# as that, so newcomers find the quiet ones together, however many are busy.
_LOOKS = 8
_RESERVES = (_Reserve(last=1 / 4, share=1), _Reserve(last=1 / 8, share=1 / 4))


class Holder(Protocol):
    """Who holds a place."""

    def make_room(self) -> bool:
        """End, unless something is being answered; whether it does, and has left its place."""


class Places:
    """The connections of one port, from the kernel's accept to their end.

    Of 4,096 places, while 10 peers are there, an equal share is 4,096 / 11 = 372: theirs, and one
    for whoever comes next. Who asks for a place gets it

    - while more than 1,024 are free (a quarter): whatever it has;
    - of the last 1,024: if it has 372 at most, one share;
    - of the last 512 (an eighth): if it has 93 at most, a quarter of a share;
    - where none is free: if another peer has two more than it and makes room. Of the peer with
      most places the first connection goes that nobody is at work for;
    - where none does so: if it has none at all, and a connection has been quiet for more than 2 s.
      The one goes that has been quiet longest, also where it is all that its peer has. So as many
      addresses as there are places keep nobody out by being there.

    Beside that nobody has more than its own bound, 256 by default. The rules are against different
    crowds. One that is at work on all of its connections makes no room: the reserve is what it
    leaves to whoever comes new. One of more addresses than there are places takes the reserve, too,
    and then has to make room.

    Attributes:
        taken: how many places are.
    """

    def __init__(
        self,
        bounds: Bounds,
        is_proxy: Callable[[str], bool] = lambda _: False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nobody is connected yet.

        Args:
            bounds: of the port.
            is_proxy: tells addresses that are bounded only in all.
            now: tells seconds.
        """
        self._bounds, self._is_proxy, self._now = bounds, is_proxy, now
        self.taken = 0
        self._of_peers: dict[str, dict[Place, None]] = {}
        # Peers by how many places they have, and the most that one has.
        self._by_number: dict[int, dict[str, None]] = {}
        self._most = 0
        # All of them, by when each was last seen to have done something: the first for longest.
        self._by_rest: OrderedDict[Place, None] = OrderedDict()

    def take(self, address: str) -> Place | Reason:
        """A place for a connection from this address, or why there is none."""
        peer = "" if self._is_proxy(address) else peer_of(address)
        number = len(self._of_peers.get(peer, ())) if peer else 0
        if number >= self._bounds.max_connections_per_peer:
            return Reason.PEER_CONNECTIONS
        if peer and self._is_above_share(number):
            return Reason.CONNECTIONS
        now = self._now()
        if self.taken >= self._bounds.max_connections and not self._is_made_room(number, now):
            return Reason.CONNECTIONS
        self.taken += 1
        place = Place(self, address, peer, now)
        if peer:
            self._by_rest[place] = None
            self._of_peers.setdefault(peer, {})[place] = None
            self._renumber(peer, number, number + 1)
        return place

    def leave(self, place: Place) -> None:
        """One connection less."""
        self.taken -= 1
        peer = place.peer
        if not peer:
            return
        places = self._of_peers[peer]
        del places[place], self._by_rest[place]
        self._renumber(peer, len(places) + 1, len(places))
        if not places:
            del self._of_peers[peer]

    def _is_above_share(self, number: int) -> bool:
        """Whether a peer with so many places may have no more, now that few are left."""
        most = self._bounds.max_connections
        share = most / (len(self._of_peers) + 1)
        free = (most - self.taken) / most
        return any(free <= one.last and number > share * one.share for one in _RESERVES)

    def _is_made_room(self, number: int, now: float) -> bool:
        """Whether another connection ends for a peer that has so many."""
        # Two fewer, or the two would drive each other out in turns.
        if number + 1 < self._most and self._make_room():
            return True
        return not number and self._end_quietest(now)

    def _end_quietest(self, now: float) -> bool:
        """The connection ends that has been quiet longest, of the first few; whether one does."""
        for _ in range(min(_LOOKS, len(self._by_rest))):
            place = next(iter(self._by_rest))
            if now - place.rests_since <= QUIET_SECONDS:
                return False
            if not place.has_acted() and place.holder is not None and place.holder.make_room():
                return True
            place.rests_since = now
            self._by_rest.move_to_end(place)
        return False

    def _make_room(self) -> bool:
        """One of those with most places loses one; whether it did."""
        peer = next(iter(self._by_number[self._most]))
        for place in self._of_peers[peer]:
            if place.holder is not None and place.holder.make_room():
                return True
        # All of its connections are at work: the next time another one is looked at.
        self._renumber(peer, self._most, self._most)
        return False

    def _renumber(self, peer: str, before: int, after: int) -> None:
        """Go to the end of those that have as many."""
        if before:
            self._by_number[before].pop(peer)
        if after:
            self._by_number.setdefault(after, {})[peer] = None
        self._most = max(self._most, after)
        if before and not self._by_number[before]:
            del self._by_number[before]
            if before == self._most:  # it is one step from there to the next
                self._most = after


class Place:
    """That of one connection.

    Attributes:
        address: of the host at its other end.
        peer: the name under which that is counted with others; "" of a trusted proxy.
        holder: who can leave it for another's sake; None: nobody yet.
        acts: how often its client has been at something, as in having been answered; only whether
            that has changed counts.
        rests_since: seconds at which it was last seen to have done something.
    """

    __slots__ = ("_acts", "_places", "acts", "address", "holder", "peer", "rests_since")

    def __init__(self, places: Places, address: str, peer: str, now: float) -> None:
        """Taken by now."""
        self._places: Places | None = places
        self.address = address
        self.peer = peer
        self.holder: Holder | None = None
        self.acts: Callable[[], int] = _nothing
        self._acts = 0
        self.rests_since = now

    def has_acted(self) -> bool:
        """Whether its client has been at something since this was asked last."""
        before, self._acts = self._acts, self.acts()
        return self._acts != before

    def leave(self) -> None:
        """The connection has ended; further calls do nothing."""
        # Its holder holds it: neither would be freed before a garbage collection.
        self.holder, self.acts = None, _nothing
        places, self._places = self._places, None
        if places is not None:
            places.leave(self)


def _nothing() -> int:
    """Nobody has called yet."""
    return 0
