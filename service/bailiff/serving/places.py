"""How many connections there are, in all and of one peer."""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import TYPE_CHECKING

from bailiff.serving.bounds import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ipaddress import IPv4Network, IPv6Network

    from bailiff.serving.bounds import Bounds

# What one subscriber of IPv6 is given at least (RFC 6177): all its addresses are one peer.
_SUBSCRIBER = 64
_V6_BITS = 128


class Places:
    """The connections of one port, from the kernel's accept to their end."""

    def __init__(self, bounds: Bounds, trusted: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        """Nobody is connected yet; peers in `trusted` are proxies: bounded only in all."""
        self._bounds, self._trusted = bounds, trusted
        self._taken = 0
        self._of_peers: Counter[str] = Counter()

    def take(self, address: str) -> Place | Reason:
        """A place for a connection from this address, or why there is none."""
        if self._taken >= self._bounds.max_connections:
            return Reason.CONNECTIONS
        peer = self._peer(address)
        if peer and self._of_peers[peer] >= self._bounds.max_connections_per_peer:
            return Reason.PEER_CONNECTIONS
        self._taken += 1
        if peer:
            self._of_peers[peer] += 1
        return Place(self, peer)

    def leave(self, peer: str) -> None:
        """One connection less."""
        self._taken -= 1
        if not peer:
            return
        self._of_peers[peer] -= 1
        if not self._of_peers[peer]:
            del self._of_peers[peer]

    def _peer(self, address: str) -> str:
        """Under which name an address is counted; "" where it is not."""
        if not self._trusted and ":" not in address:
            return address
        known = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(known, ipaddress.IPv6Address):
            known = known.ipv4_mapped or known
        if any(known in network for network in self._trusted):
            return ""
        if known.version == 4:
            return str(known)
        return str(int(known) >> (_V6_BITS - _SUBSCRIBER))


class Place:
    """That of one connection."""

    __slots__ = ("_peer", "_places")

    def __init__(self, places: Places, peer: str) -> None:
        """Taken by now."""
        self._places: Places | None = places
        self._peer = peer

    def leave(self) -> None:
        """The connection has ended; further calls do nothing."""
        places, self._places = self._places, None
        if places is not None:
            places.leave(self._peer)
