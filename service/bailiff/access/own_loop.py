"""A guard for an application whose loop is another than that of who puts it together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.access.asgi import Guarded
from bailiff.access.errors import UnavailableError
from bailiff.cluster import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from starlette.types import ASGIApp, Receive, Scope, Send

    from bailiff.access.asgi import Refuse
    from bailiff.access.guard import Guard
    from bailiff.access.rules import Rules

_RETRY_SECONDS = 5

log = structlog.get_logger(__name__)


class GuardedInItsLoop:
    """As Guarded, its guard opened in the loop where the first request is answered.

    What a guard has belongs to one loop, its connections to the API server above all. It is closed
    when the loop's tasks are cancelled, which asyncio.Runner does before it closes the loop.
    """

    def __init__(
        self,
        app: ASGIApp,
        open_guard: Callable[[], AbstractAsyncContextManager[Guard]],
        rules: Rules,
        refuse: Refuse,
    ) -> None:
        """Wrap; nothing is opened yet.

        Args:
            app: what answers those who are let in.
            open_guard: opens one; raises ClusterError where that cannot be done now.
            rules: of this port.
            refuse: how this port says that somebody is not let in.
        """
        self._app = app
        self._open_guard = open_guard
        self._rules = rules
        self._refuse = refuse
        self._guarded: Guarded | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        guarded = self._guarded or await self._opened()
        if guarded is not None:
            await guarded(scope, receive, send)
        elif self._rules.is_open("GET", scope["path"]):
            await self._app(scope, receive, send)
        else:
            why = "this process cannot log in to the API server now, and asks it who asks"
            await self._refuse(scope, UnavailableError(why, _RETRY_SECONDS))(scope, receive, send)

    async def _opened(self) -> Guarded | None:
        if self._keeper is None or self._keeper.done():
            self._opening: asyncio.Event = asyncio.Event()
            self._keeper = asyncio.create_task(self._keep(), name="guard")
        await self._opening.wait()
        return self._guarded

    async def _keep(self) -> None:
        try:
            async with self._open_guard() as guard:
                self._guarded = Guarded(self._app, guard, self._rules, self._refuse)
                self._opening.set()
                await asyncio.Event().wait()
        except ClusterError as error:
            log.warning("callers cannot be known", error=str(error))
        finally:
            self._guarded = None
            self._opening.set()
