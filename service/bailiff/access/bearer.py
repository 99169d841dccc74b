"""The bearer token of a request (RFC 6750, 2.1), and the digest by which it is known here."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING

from bailiff.access.errors import UnauthenticatedError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEME = b"bearer "
# What may stand in a header (RFC 9110, 5.5) and is no space.
_TOKEN = re.compile(rb"[\x21-\x7e]+")
_INVALID_REQUEST = "invalid_request"
# Another in each process. Who does not know it can tell nothing of a token's digest: so a look-up
# by digests, which is quick, takes no longer for a token that is nearly right.
_KEYED = hashlib.blake2b(digest_size=16, key=secrets.token_bytes(32))


def bearer_token(headers: Iterable[tuple[bytes, bytes]], longest: int) -> bytes | None:
    """The token in the Authorization header; None: there is no such header.

    Args:
        headers: of the request, their names in lower case.
        longest: bytes that a token may have.

    Raises:
        UnauthenticatedError: several headers, another scheme, or too long a token.
    """
    found: bytes | None = None
    for name, value in headers:
        if name == b"authorization":
            if found is not None:
                raise UnauthenticatedError("more than one Authorization header", _INVALID_REQUEST)
            found = value
    if found is None:
        return None
    if found[:7].lower() != _SCHEME:
        raise UnauthenticatedError("the Authorization header must be Bearer and a token")
    if len(found) > longest + len(_SCHEME):
        raise UnauthenticatedError(f"a token has at most {longest} bytes", _INVALID_REQUEST)
    return found[7:].strip(b" \t")


def as_text(token: bytes) -> str:
    """The token, to be shown to others; raises UnauthenticatedError where it cannot be one."""
    if _TOKEN.fullmatch(token) is None:
        raise UnauthenticatedError("the Authorization header has no token", _INVALID_REQUEST)
    return token.decode("ascii")


def digest(token: bytes) -> bytes:
    """By what a token is looked up and remembered: never by itself."""
    # A copy has the key read already, which takes as long as the token.
    keyed = _KEYED.copy()
    keyed.update(token)
    return keyed.digest()
