"""How many connections there are, in all and of one peer."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Protocol

from bailiff.serving.addresses import peer_of
from bailiff.serving.bounds import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ipaddress import IPv4Network, IPv6Network

    from bailiff.serving.bounds import Bounds


# Parts of the places, the last ones, that only peers get who have at most so much of an equal share
# of all: where the others are at work for a crowd of several addresses, whoever comes new gets in.
_RESERVED = ((1 / 8, 1 / 4), (1 / 4, 1.0))


class Holder(Protocol):
    """Who holds a place."""

    def make_room(self) -> bool:
        """End, unless something is being answered; whether it does, and has left its place."""


class Places:
    """The connections of one port, from the kernel's accept to their end.

    Where all places are taken, the peer with the most of them makes room for one who has fewer: of
    its connections the first goes that nobody is at work for. So a crowd from several addresses
    can take what is left over, and nobody else's last place.
    """

    def __init__(self, bounds: Bounds, trusted: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        """Nobody is connected yet; peers in `trusted` are proxies: bounded only in all."""
        self._bounds, self._trusted = bounds, trusted
        self._taken = 0
        self._of_peers: dict[str, dict[Place, None]] = {}
        # Peers by how many places they have, and the most that one has.
        self._by_number: dict[int, dict[str, None]] = {}
        self._most = 0

    def take(self, address: str) -> Place | Reason:
        """A place for a connection from this address, or why there is none."""
        peer = self._peer(address)
        number = len(self._of_peers.get(peer, ())) if peer else 0
        if number >= self._bounds.max_connections_per_peer:
            return Reason.PEER_CONNECTIONS
        if peer and self._is_above_share(number):
            return Reason.CONNECTIONS
        # Two fewer, or the two would drive each other out in turns.
        if self._taken >= self._bounds.max_connections and not (
            number + 1 < self._most and self._make_room()
        ):
            return Reason.CONNECTIONS
        self._taken += 1
        place = Place(self, peer)
        if peer:
            self._of_peers.setdefault(peer, {})[place] = None
            self._renumber(peer, number, number + 1)
        return place

    def leave(self, place: Place) -> None:
        """One connection less."""
        self._taken -= 1
        peer = place.peer
        if not peer:
            return
        places = self._of_peers[peer]
        del places[place]
        self._renumber(peer, len(places) + 1, len(places))
        if not places:
            del self._of_peers[peer]

    def _is_above_share(self, number: int) -> bool:
        """Whether a peer with so many places may have no more, now that few are left."""
        most = self._bounds.max_connections
        share = most / (len(self._of_peers) + 1)
        free = (most - self._taken) / most
        return any(free <= part and number > share * least for part, least in _RESERVED)

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

    def _peer(self, address: str) -> str:
        """Under which name an address is counted; "" where it is not."""
        if self._trusted:
            known = ipaddress.ip_address(address.partition("%")[0])
            if isinstance(known, ipaddress.IPv6Address):
                known = known.ipv4_mapped or known
            if any(known in network for network in self._trusted):
                return ""
        return peer_of(address)


class Place:
    """That of one connection.

    Attributes:
        peer: whose it is; "" of a trusted proxy.
        holder: who can leave it for another's sake; None: nobody yet.
    """

    __slots__ = ("_places", "holder", "peer")

    def __init__(self, places: Places, peer: str) -> None:
        """Taken by now."""
        self._places: Places | None = places
        self.peer = peer
        self.holder: Holder | None = None

    def leave(self) -> None:
        """The connection has ended; further calls do nothing."""
        places, self._places = self._places, None
        if places is not None:
            places.leave(self)
