"""How a list-and-watch fares: what to count, and what to ask before trusting it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bailiff.cluster.errors import (
    BadRequestError,
    ClusterError,
    ExpiredError,
    RequestTimeoutError,
    ResponseError,
    UnreachableError,
)


class RewoundError(ClusterError):
    """The server is at an older version than one it told us before."""


class Restart(StrEnum):
    """Why a watch had to start again."""

    ENDED = "ended"  # the server ended it in good order, as it does after its timeout
    DISCONNECTED = "disconnected"  # the connection broke or could not be made
    IDLE = "idle"  # no byte for too long, or no answer at all
    EXPIRED = "expired"  # 410: the version is forgotten
    REWOUND = "rewound"  # versions went backwards: another cluster, or one restored from backup
    MALFORMED = "malformed"  # a line or a page that does not decode
    REFUSED = "refused"  # any other answer: 401, 403, 429, 5xx
    UNSUPPORTED = "unsupported"  # the server cannot send objects first; lists from now on


# After these the version is of no more use.
RELISTS = frozenset({Restart.EXPIRED, Restart.REWOUND, Restart.MALFORMED, Restart.UNSUPPORTED})

_CAUSES: tuple[tuple[type[ClusterError], Restart], ...] = (
    (ExpiredError, Restart.EXPIRED),
    (RewoundError, Restart.REWOUND),
    # A version that is no version to this server.
    (BadRequestError, Restart.EXPIRED),
    (ResponseError, Restart.MALFORMED),
    (RequestTimeoutError, Restart.IDLE),
    (UnreachableError, Restart.DISCONNECTED),
)


def restart_for(error: ClusterError | None) -> Restart:
    """Why a watch has to start again after this; None is the orderly end."""
    if error is None:
        return Restart.ENDED
    found = (cause for kind, cause in _CAUSES if isinstance(error, kind))
    return next(found, Restart.REFUSED)


@dataclass(slots=True)
class WatchHealth:
    """What metrics and readiness want to know; written by the ListWatch, read by anybody.

    Attributes:
        synced: the consumer has been given the whole, and no relist is due.
        connected: a watch is open.
        resource_version: how far it has come; "" before the first sync and while relisting.
        last_contact: monotonic second of the last byte from the server, or None.
        last_event_at: monotonic second of the last event given to the consumer, or None.
        last_error: what failed last, or None.
        restarts: how often, by cause.
    """

    synced: bool = False
    connected: bool = False
    resource_version: str = ""
    last_contact: float | None = None
    last_event_at: float | None = None
    last_error: ClusterError | None = None
    restarts: dict[Restart, int] = field(default_factory=lambda: dict.fromkeys(Restart, 0))
