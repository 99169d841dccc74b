"""A guard for an application whose loop is another than that of who puts it together."""

from __future__ import annotations

import asyncio
import math
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
    from bailiff.clock import Clock

# For which a failure is remembered: else each request of a stranger would be another login.
_RETRY_SECONDS = 5

log = structlog.get_logger(__name__)


class GuardedInItsLoop:
    """As Guarded, its guard opened in the loop where the first is answered that needs one.

    What a guard has belongs to one loop, its connections to the API server above all. It is closed
    when the loop's tasks are cancelled, which asyncio.Runner does before it closes the loop.
    """

    def __init__(
        self,
        app: ASGIApp,
        open_guard: Callable[[], AbstractAsyncContextManager[Guard]],
        rules: Rules,
        refuse: Refuse,
        clock: Clock,
    ) -> None:
        """Wrap; nothing is opened yet.

        Args:
            app: what answers those who are let in.
            open_guard: opens one; raises ClusterError where that cannot be done now.
            rules: of this port.
            refuse: how this port says that somebody is not let in.
            clock: for how long a failure is remembered.
        """
        self._app = app
        self._open_guard = open_guard
        self._rules = rules
        self._refuse = refuse
        self._clock = clock
        self._guarded: Guarded | None = None
        self._keeper: asyncio.Task[None] | None = None
        # Set once the keeper that was begun last has a guard, or none; made anew for each.
        self._opening = asyncio.Event()
        # In elapsed seconds.
        self._next_attempt = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        if self._is_open(scope):
            await self._app(scope, receive, send)
            return
        guarded = self._guarded or await self._opened()
        if guarded is not None:
            await guarded(scope, receive, send)
            return
        why = "this process cannot find out now who asks"
        await self._refuse(scope, UnavailableError(why, _RETRY_SECONDS))(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        """Whether no guard is needed: probes never wait for the API server."""
        if scope["type"] != "http":
            return True
        method = scope["method"]
        return self._rules.is_open("GET" if method == "HEAD" else method, scope["path"])

    async def _opened(self) -> Guarded | None:
        """The guard; None: there is none now. Who asks has it opened, now and then only."""
        if self._keeper is None or self._keeper.done():
            if self._clock.elapsed() < self._next_attempt:
                return None
            self._opening = asyncio.Event()
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
        except Exception:
            # Nobody awaits the task: else it would be silent.
            log.exception("callers cannot be known")
        finally:
            self._guarded = None
            self._next_attempt = self._clock.elapsed() + _RETRY_SECONDS
            self._opening.set()
