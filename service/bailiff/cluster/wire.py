"""What a client of one API server sends by: the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from bailiff.cluster.login import Login
    from bailiff.cluster.request import Request
    from bailiff.cluster.settings import ClusterSettings


class Inflow(Protocol):
    """An accepted answer that is still coming in. Close it, or use it as a context manager."""

    async def read(self) -> bytes:
        """The bytes that have come in; waits for the first. b"" is the orderly end.

        Raises:
            ClusterError: nothing came for the idle time, or the connection broke.
        """
        ...

    def close(self) -> None:
        """Hang up, without waiting for the other side to do the same."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...


class Wire(Protocol):
    """Sends requests to one API server; raises ClusterError, see bailiff.cluster.errors."""

    async def send(self, request: Request, within: float | None = None) -> bytes:
        """Send a request and give the body of its 2xx answer.

        Args:
            request: what to send.
            within: seconds for all of it; the setting request_timeout where None.
        """
        ...

    async def open(self, request: Request) -> Inflow:
        """Send a request whose answer has no end."""
        ...

    def beside(self, settings: ClusterSettings) -> Wire:
        """The same login over connections of its own, with other bounds and no pace."""
        ...

    async def login(self) -> Login:
        """The present login."""
        ...

    def backoff(self) -> float:
        """Seconds from now for which nothing is sent; 0 if requests may go."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
