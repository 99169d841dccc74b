"""Callers by their client certificates, as Kubernetes has it (kube-apiserver's --client-ca-file).

The common name is the user, organizations are groups. Whoever terminates TLS has checked the
certificate.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from bailiff.access.callers import Caller, known_here

if TYPE_CHECKING:
    from bailiff.serving import Peer

_REMEMBERED = 1024


def caller_of_peer(peer: Peer | None) -> Caller | None:
    """The caller at the other end of a connection; None: it has shown no certificate."""
    return None if peer is None else _caller(peer.user, peer.groups)


@lru_cache(_REMEMBERED)
def _caller(user: str, groups: tuple[str, ...]) -> Caller:
    return known_here(user, groups=groups)
