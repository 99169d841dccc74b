"""Who asks: what Kubernetes knows of a user (authentication.k8s.io/v1, UserInfo)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

Extra: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]

# Kubernetes puts everybody into it whose name it knows, and roles may be bound to it.
AUTHENTICATED = "system:authenticated"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """A caller who has proved who it is.

    Attributes:
        name: as `system:serviceaccount:shop:drainer`.
        uid: "" where nobody says.
        groups: it belongs to.
        extra: further words of whoever authenticated it, by key.
        key: the same for two callers of whom the same is known; for look-ups.
    """

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Extra = ()
    key: bytes = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        known = msgspec.json.encode((self.name, self.uid, self.groups, self.extra))
        object.__setattr__(self, "key", hashlib.blake2b(known, digest_size=16).digest())


def known_here(name: str, uid: str = "", groups: tuple[str, ...] = ()) -> Caller:
    """A caller whom this process knows by itself, in the group that Kubernetes would add."""
    all_groups = groups if AUTHENTICATED in groups else (*groups, AUTHENTICATED)
    return Caller(name=name, uid=uid, groups=all_groups)
