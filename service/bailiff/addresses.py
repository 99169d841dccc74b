"""Whose address that is: what is counted, and what waits, under one name."""

from __future__ import annotations

import ipaddress

# What one subscriber of IPv6 is given at least (RFC 6177): all its addresses are one peer.
_SUBSCRIBER = 64
_V6_BITS = 128


def peer_of(address: str) -> str:
    """One name for all addresses of a peer; what is no address, as of a proxy, is its own name."""
    if ":" not in address:
        return address
    try:
        known = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(int(known) >> (_V6_BITS - _SUBSCRIBER))
