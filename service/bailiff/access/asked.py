"""A request as the guard sees it, whatever the face."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.addresses import peer_of

if TYPE_CHECKING:
    from bailiff.access.callers import Caller

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]


class Asked(NamedTuple):
    """What is asked, from where, and what is to prove who asks.

    Attributes:
        method: of HTTP; "" for gRPC.
        path: what is asked.
        address: it comes from; what is none, such as "", is a stranger's.
        headers: their names in lower case; the metadata of a call.
        certificate: who the client's certificate says that it is; None: it has none.
    """

    method: str
    path: str
    address: str
    headers: Headers
    certificate: Caller | None = None

    @property
    def peer(self) -> str:
        """Under which name its address is counted: the one way from an address to that."""
        return peer_of(self.address)

    @property
    def is_local(self) -> bool:
        """Whether it comes from this machine's own loopback.

        What is no address is not: a proxy may say "unknown", and no port of ours is a path in the
        file system.
        """
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return False
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).is_loopback

    @property
    def what(self) -> str:
        """The method and the path, for logs."""
        return f"{self.method} {self.path}".strip()
