"""What aiohttp must do otherwise for writes: ask the fence last, and never send one twice.

Both hooks are public: `request_class` and `middlewares` of aiohttp.ClientSession.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from bailiff.cluster.errors import FencedError, UnreachableError

if TYPE_CHECKING:
    from aiohttp import ClientHandlerType, ClientResponse
    from aiohttp.connector import Connection

    from bailiff.cluster.request import Request

# Nothing is changed by them, so the library may send them again by itself.
_SAFE = "GET"


class FencedRequest(aiohttp.ClientRequest):
    """A request that asks whether it may go when it has its connection.

    Waiting for a connection, or for TLS, may take longer than a lead lasts. A refusal here gives
    the connection up unused: aiohttp closes it.
    """

    asked: Request | None = None

    async def send(self, conn: Connection) -> ClientResponse:
        """Send it.

        Raises:
            FencedError: it must not be sent now, and was not.
        """
        asked = self.asked
        if asked is not None and asked.allowed is not None and not asked.allowed():
            raise FencedError(f"{asked.what}: not sent, another process leads")
        return await super().send(conn)


class Sending:
    """The middleware of one request in one session."""

    def __init__(self, request: Request, session: aiohttp.ClientSession) -> None:
        self._request = request
        self._session = session

    async def __call__(
        self, sent: aiohttp.ClientRequest, handler: ClientHandlerType
    ) -> ClientResponse:
        """Send it once.

        aiohttp sends an idempotent request again when a kept-alive connection turns out to be
        closed, DELETE and PUT included, and has no switch for that (RFC 9110, 9.2.2, allows it).
        By then another may lead, or the first may have been carried out. So the failure is made
        one that aiohttp does not know.

        Raises:
            UnreachableError: the connection broke.
            FencedError: see FencedRequest.
        """
        if isinstance(sent, FencedRequest):
            sent.asked = self._request
        try:
            return await handler(sent)
        except (aiohttp.ClientConnectionError, OSError) as error:
            if self._may_repeat() or isinstance(error, TimeoutError):
                raise
            raise UnreachableError(f"{self._request.what}: {describe(error)}") from error

    def _may_repeat(self) -> bool:
        # In a session that was closed meanwhile there is nothing to send it by.
        return self._request.method == _SAFE and not self._session.closed


def describe(error: Exception) -> str:
    """What happened, where the exception may have no words of its own."""
    return str(error) or type(error).__name__
