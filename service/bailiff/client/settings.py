"""What a client is told once, for all its calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - of the fields

from bailiff.client import given
from bailiff.client.retrying import Retries

TokenSource = Callable[[], str]
# The server takes a ping each 10 s and ends connections that send more (docs/reference/limits.md).
_SHORTEST_KEEPALIVE = 10.0


@dataclass(frozen=True, kw_only=True)
class Tls:
    """How a server is known, and how this client shows who it is.

    Files are read when a client is made.

    Attributes:
        ca_file: PEM file of who may vouch for the server; None: those that the system trusts, over
            gRPC those that grpcio brings.
        certificate_file: PEM file of this client's own certificate; None: it shows none.
        key_file: PEM file of its key; None: it is in `certificate_file`.
        server_name: the name that the server's certificate is to have; None: that of the address.
    """

    ca_file: str | Path | None = None
    certificate_file: str | Path | None = None
    key_file: str | Path | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        if self.key_file is not None and self.certificate_file is None:
            raise ValueError("key_file is the key of certificate_file, which is missing")


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """What a client is told once.

    Attributes:
        timeout: a call is over after so many seconds, with all its attempts and pauses.
        attempt_timeout: one attempt is over after so many seconds; then another may be made. Of an
            answer in parts it is the wait for the first.
        retries: how often, and when.
        tls: over REST used where the address says https; over gRPC None is without TLS.
        token: who asks: a bearer token, or what returns one, which is called before each attempt.
        token_file: the same in a file, which is read again whenever it has changed, as the kubelet
            changes the token of a pod. Not beside `token`.
        token_in_clear: send the token without TLS to other machines, too.
        keepalive: seconds without traffic after which a gRPC connection is pinged, 10 or more, and
            after which an idle HTTP connection is not used again. Less than the server's 75 s.
        keepalive_timeout: seconds after which a ping without an answer ends the connection.
        max_connections: of one REST client, at a time.
    """

    timeout: float = 30.0
    attempt_timeout: float = 10.0
    retries: Retries = field(default_factory=Retries)
    tls: Tls | None = None
    token: str | TokenSource | None = field(default=None, repr=False)
    token_file: str | Path | None = None
    token_in_clear: bool = False
    keepalive: float = 60.0
    keepalive_timeout: float = 20.0
    max_connections: int = 16

    def __post_init__(self) -> None:
        for name in ("timeout", "attempt_timeout", "keepalive", "keepalive_timeout"):
            if given.seconds(getattr(self, name), name) <= 0:
                raise ValueError(f"{name} must be above 0 s")
        if self.keepalive < _SHORTEST_KEEPALIVE:
            raise ValueError("keepalive must be 10 s or more: the server takes no more pings")
        given.whole(self.max_connections, "max_connections", 1)
        given.kind(self.retries, Retries, "retries are Retries")
        if self.tls is not None:
            given.kind(self.tls, Tls, "tls is a Tls")
        if not (self.token is None or isinstance(self.token, str) or callable(self.token)):
            raise TypeError("token is a text, or a function that returns one")
        if self.token is not None and self.token_file is not None:
            raise ValueError("token or token_file, not both")


def settings_of(settings: ClientSettings | None) -> ClientSettings:
    """Those of a client, or the defaults; TypeError."""
    if settings is None:
        return ClientSettings()
    given.kind(settings, ClientSettings, "settings are ClientSettings")
    return settings
