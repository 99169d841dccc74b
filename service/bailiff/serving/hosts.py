"""For whom a request says it is meant: a guard against DNS rebinding.

A page of another site may let its own name lead to this machine, and then ask here with the
browser's rights on this network. Its requests bear its name in Host; so only names that are known
are answered (RFC 9110, 7.4). A literal address cannot be rebound. Where the target of a request
names a host, too, that one counts (RFC 9112, 3.2.2): then both have to be known, since whoever
forwards the request, or answers it, may go by either.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# A name of DNS and a port; what is longer is no name, and not kept.
_LONGEST = 253 + len(":65535")
_KEPT = 256
_ANY = "*"
# An address of IPv6 in brackets, or what may be a name or another address; a port behind it.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)(?:%[^\[\]]*)?\]|([^\[\]:/?#@\\\s]*))(?::[0-9]*)?")


class Hosts:
    """The names that a port answers to."""

    def __init__(self, allowed: Iterable[str] = (), listening: str = "") -> None:
        """Know them.

        Args:
            allowed: names; `*.example.com` for all below example.com; `*` for any.
            listening: the name or address that the port listens on.
        """
        names = {name.strip().lower().rstrip(".") for name in (*allowed, listening)} - {""}
        self._any = _ANY in names
        self._suffixes = tuple(name[1:] for name in names if name.startswith("*."))
        self._names = names | {"localhost"}
        # Hashing is all that a request costs here whose Host was seen before.
        self._look = lru_cache(maxsize=_KEPT)(self._is_known)

    def allow(self, host: bytes) -> bool:
        """Whether a request for this host, and port if any, is to be answered."""
        return self._any or (len(host) <= _LONGEST and self._look(host))

    def _is_known(self, host: bytes) -> bool:
        name = _name(host.decode("latin-1").lower())
        if name in self._names or name.endswith(self._suffixes):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def authority_of(target: bytes) -> bytes:
    """The host and port that the target of a request names, as `http://localhost:80/version`.

    Empty: it names none, as nearly all. What is in front of an `@` is left there: it is no host.
    """
    if target[:1] == b"/":
        return b""
    _, slashes, rest = target.partition(b"://")
    return re.split(rb"[/?#]", rest, maxsplit=1)[0] if slashes else b""


def _name(host: str) -> str:
    """Without the port, a final dot, and brackets; empty: that is no host (RFC 3986, 3.2)."""
    found = _HOST.fullmatch(host)
    return "" if found is None else found[1] or found[2].rstrip(".")
