"""How a list-and-watch fares: what to count, and what to ask before trusting it."""

from __future__ import annotations

from dataclasses import dataclass
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
    """How far a watch is to be believed; written by the ListWatch, read by anybody.

    A watch is well while it is open and its consumer has been given the whole. Silence is no
    trouble: where nothing changes, nothing is said. A connection that has died without a word
    (half-open) is found within ClusterSettings.watch_idle_timeout, and then the watch is not well.

    Attributes:
        synced: the consumer has been given the whole, and no relist is due.
        connected: a watch is open.
        resource_version: how far it has come; "" before the first sync and while relisting.
        last_contact: monotonic second of the last thing that the server has said or answered to
            this watch: a byte, a list, the version it is at. None: nothing so far.
        unwell_since: monotonic second since when it has not been certain that the consumer's
            picture is that of the cluster; None while the watch is well, or was never wanted.
        last_error: what failed last; None while the watch is well.
    """

    synced: bool = False
    connected: bool = False
    resource_version: str = ""
    last_contact: float | None = None
    unwell_since: float | None = None
    last_error: ClusterError | None = None

    def wanted(self, now: float) -> None:
        """The watch is to be opened, from now on for good."""
        if self.unwell_since is None:
            self.unwell_since = now

    def heard(self, now: float) -> None:
        """The server has said or answered something."""
        self.last_contact = now

    def opened(self, now: float) -> None:
        """The watch is accepted."""
        self.connected = True
        self.heard(now)
        self._judge()

    def told(self, version: str, *, whole: bool) -> None:
        """The consumer is as far as this version; `whole`: it has been given everything."""
        self.resource_version = version
        self.synced = self.synced or whole
        self._judge()

    def lost(self, now: float) -> None:
        """The watch is open no more; nothing is certain since the server was last heard."""
        self.connected = False
        if self.unwell_since is None:
            self.unwell_since = now if self.last_contact is None else self.last_contact

    def spoiled(self) -> None:
        """The version is of no more use: everything is to be read again."""
        self.resource_version = ""
        self.synced = False

    def age(self, now: float) -> float:
        """Seconds by which the consumer's picture may lie behind; 0 while the watch is well."""
        return 0.0 if self.unwell_since is None else max(0.0, now - self.unwell_since)

    def _judge(self) -> None:
        if self.connected and self.synced:
            self.unwell_since = self.last_error = None
