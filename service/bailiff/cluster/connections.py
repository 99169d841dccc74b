"""The connections to one API server, in the TLS of the present login."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.cluster.errors import UnreachableError
from bailiff.cluster.session import open_session

if TYPE_CHECKING:
    import aiohttp

    from bailiff.cluster.login import Login
    from bailiff.cluster.tls import Tls

# Seconds for connections to end after the last request; a round trip and some.
_FAREWELL = 0.1


class Connections:
    """One pool of connections, replaced when the certificates change.

    The connections of before are closed at once, watches and requests under way included, as
    client-go does (transport/cert_rotation.go): what was given up may have leaked.
    """

    def __init__(self, most: int) -> None:
        """Connect to nothing yet.

        Args:
            most: TCP connections open at once.
        """
        self._most = most
        self._session: aiohttp.ClientSession | None = None
        self._tls: Tls | None = None
        self._closed = False

    async def session(self, login: Login) -> aiohttp.ClientSession:
        """The session to use for this login.

        Raises:
            UnreachableError: closed.
            ConfigError: its certificates cannot be used; the connections of before stay.
        """
        if self._closed:
            raise UnreachableError("the client is closed")
        session = self._session
        if session is None or self._tls != login.tls:
            # Exchanged before anything is awaited, so that no two tasks open one each.
            former, session = session, open_session(login.tls, self._most)
            self._session, self._tls = session, login.tls
            if former is not None:
                await former.close()
        if session.closed:
            raise UnreachableError("the login has changed, or the client is closed")
        return session

    async def close(self) -> None:
        """Close all connections, for good."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            # A watch that was hung up on, or a request that was cancelled, says its TLS farewell
            # in the background, and the session does not wait for it (aiohttp's documentation,
            # "Graceful Shutdown"): without this its socket would outlive the loop.
            await asyncio.sleep(_FAREWELL)
