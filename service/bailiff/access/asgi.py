"""The guard around an ASGI application: no route can forget it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from bailiff.access.asked import Asked
from bailiff.access.certificates import caller_of_peer
from bailiff.access.errors import AccessError, UnknownPathError
from bailiff.serving import peer_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bailiff.access.callers import Caller
    from bailiff.access.guard import Guard
    from bailiff.access.quotas import Account
    from bailiff.access.rules import Rules

    # From a request's scope and why it is not let in to what answers it.
    Refuse: TypeAlias = Callable[[Scope, AccessError], ASGIApp]


class Guarded:
    """Answers whom the guard lets in by the application, and others by a refusal."""

    def __init__(self, app: ASGIApp, guard: Guard, rules: Rules, refuse: Refuse) -> None:
        """Wrap.

        Args:
            app: what answers those who are let in.
            guard: lets them in.
            rules: of this port.
            refuse: how this port says that somebody is not.
        """
        self.app = app
        self._guard = guard
        self._rules = rules
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guard = self._guard
        certificate = self._certificate(scope) if guard.knows_certificates else None
        account = None
        if certificate is None:
            account = guard.admit_known(
                self._rules, scope["method"], scope["path"], scope["headers"]
            )
        if account is None:
            asked = _asked(scope, certificate)
            try:
                account = await guard.admit(self._rules, asked)
            except AccessError as error:
                self._name_route(scope, asked)
                await self._refuse(scope, error)(scope, receive, send)
                return
        if account is None:
            await self.app(scope, receive, send)
            return
        charged = _Charged(account, receive, send)
        try:
            await self.app(scope, charged.receive, charged.send)
        finally:
            account.end()

    def _certificate(self, scope: Scope) -> Caller | None:
        return caller_of_peer(peer_of(scope, self._guard.clock.now()))

    def _name_route(self, scope: Scope, asked: Asked) -> None:
        """As a router would: requests are counted by it."""
        with contextlib.suppress(UnknownPathError):
            scope["route"], _ = self._rules.find(asked.method, asked.path)


class _Charged:
    """The channels of one request, whose bytes are charged to its caller."""

    __slots__ = ("_account", "_receive", "_send")

    def __init__(self, account: Account, receive: Receive, send: Send) -> None:
        self._account = account
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        self._account.spend(len(message.get("body", b"")))
        return message

    def send(self, message: Message) -> Awaitable[None]:
        self._account.spend(len(message.get("body", b"")))
        return self._send(message)


def _asked(scope: Scope, certificate: Caller | None) -> Asked:
    method, client = scope["method"], scope.get("client")
    return Asked(
        "GET" if method == "HEAD" else method,
        scope["path"],
        client[0] if client else "",
        scope["headers"],
        certificate,
    )
