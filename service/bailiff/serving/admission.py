"""What stands before every application: who asks for another host, or has waited too long."""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from bailiff.serving.bounds import Reason, headers_of
from bailiff.serving.hosts import Hosts
from bailiff.turns import ASKED_FROM, WaitedTooLongError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from bailiff.serving.bounds import Bounds, Refuse
    from bailiff.serving.edge import Edge

# Where the protocol puts, in a request's scope, since when it waits for its turn: seconds.
SINCE = "bailiff.since"
# The number of the turn of the event loop in which a request was let in.
TURN = "bailiff.turn"
# The host that its target names, where that names one.
AUTHORITY = "bailiff.authority"
_MISDIRECTED = "no such host is served here: see BAILIFF_ALLOWED_HOSTS"
_WITHOUT_HOST = "the header Host must be there, once"


class Admission:
    """Lets a request through to the application, or answers it in the port's form.

    A request that is due is never refused for the number of others: those that are answered
    without waiting for anything are answered sooner than they could be refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        bounds: Bounds,
        refuse: Refuse,
        edge: Edge,
        listening: str,
        never_late: Collection[str] = (),
    ) -> None:
        """Wrap.

        Args:
            app: what answers.
            bounds: of the port.
            refuse: how the port refuses.
            edge: of the process.
            listening: the name or address that the port listens on.
            never_late: paths that are answered however long they have waited.
        """
        proxies = edge.trusted_proxies
        # uvicorn's type of an application is narrower than Starlette's. Behind a proxy each of its
        # callers waits for itself.
        in_turn: Any = self._in_turn
        believing: Any = ProxyHeadersMiddleware(in_turn, proxies) if proxies else in_turn
        self._app, self._serve = app, cast("ASGIApp", believing)
        self._gate = edge.gate
        self._oldest = bounds.max_queue_age_seconds
        self._late = f"the request has waited for more than {self._oldest:g} s"
        self._refuse, self._refusals = refuse, edge.refusals
        self._allows = Hosts(edge.allowed_hosts, listening).allow
        self._never_late = frozenset(never_late)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one ASGI connection scope."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        if monotonic() - scope[SINCE] > self._oldest and not math.isinf(self._patience(scope)):
            return self._refused(scope, send, Reason.QUEUE_AGE, self._late)
        host, number = b"", 0
        for name, value in scope["headers"]:
            if name == b"host":
                host, number = value, number + 1
        if number != 1 and (number or scope["http_version"] != "1.0"):  # RFC 9112, 3.2
            return self._refused(scope, send, Reason.MALFORMED, _WITHOUT_HOST)
        if (number and not self._allows(host)) or not self._allows_target(scope):
            return self._refused(scope, send, Reason.HOST, _MISDIRECTED)
        return self._serve(scope, receive, send)

    def _allows_target(self, scope: Scope) -> bool:
        """Whether the target of a request names no host, or one that is known."""
        return AUTHORITY not in scope or self._allows(scope[AUTHORITY])

    def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """As the application, once a turn of the event loop has room for it."""
        ASKED_FROM.set(_client_of(scope))
        if self._gate.enter():
            scope[TURN] = self._gate.number
            return self._app(scope, receive, send)
        return self._wait(scope, receive, send)

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            left = self._patience(scope) - (monotonic() - scope[SINCE])
            await self._gate.wait(_client_of(scope), left)
        except WaitedTooLongError:
            await self._refused(scope, send, Reason.QUEUE_AGE, self._late)
        else:
            scope[TURN] = self._gate.number
            await self._app(scope, receive, send)

    def _patience(self, scope: Scope) -> float:
        """Seconds that a request may wait."""
        return math.inf if scope["path"] in self._never_late else self._oldest

    async def _refused(self, scope: Scope, send: Send, reason: Reason, detail: str) -> None:
        self._refusals.count(reason, _client_of(scope), detail)
        told, body = self._refuse(reason.status, detail)
        headers = _encoded(headers_of(reason, told, body).items())
        start = {"status": reason.status.value, "headers": headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": body})


def _client_of(scope: Scope) -> str:
    """The address of who asks."""
    return str((scope.get("client") or ("",))[0])


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers]
