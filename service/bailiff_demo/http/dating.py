"""The Date of each answer, to the second that it is in.

uvicorn's own is renewed once a second at best. Whoever tells the API server's time by it, as
Bailiff's worker does, would take a clock that is right for one that is ahead.
"""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bailiff.clock import Clock


class Dated:
    """ASGI middleware; the server behind it must write no Date of its own."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""

        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                now = self._clock.now().timestamp()
                date = (b"date", formatdate(now, usegmt=True).encode())
                message["headers"] = [*message["headers"], date]
            await send(message)

        await self._app(scope, receive, dated)
