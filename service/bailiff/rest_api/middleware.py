"""What is true of every answer, as ASGI middleware.

Every answer carries a request id, every request is measured, HEAD is answered wherever GET is, a
fault is answered without telling of itself.
Starlette's own handler for uncaught exceptions runs outside of any middleware, so it would answer
without the request id, and unmeasured. It is one class, since every layer costs every request.
"""

from __future__ import annotations

import itertools
import logging
import re
import secrets
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from bailiff.rest_api.problems import REQUEST_ID, ProblemCode, Refusal, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bailiff.clock import Clock
    from bailiff.rest_api.metrics import Metrics

_LOG = logging.getLogger(__name__)
_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# What nginx made the custom for a client that hung up; never sent, only counted.
_CLIENT_GONE = 499


class _Answer:
    """The way out for one request: puts the request id on it and sees what status it got."""

    __slots__ = ("_header", "_send", "method", "status")

    def __init__(self, send: Send, request_id: bytes, method: str) -> None:
        self._send = send
        self._header = (b"x-request-id", request_id)
        self.method = method
        self.status = 0

    def send(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], self._header]
        elif self.method == "HEAD":
            message = {**message, "body": b""}
        return self._send(message)


class Boundary:
    """Around all that the application does for a request."""

    def __init__(self, app: ASGIApp, clock: Clock, metrics: Metrics) -> None:
        """Wrap.

        Args:
            app: what answers.
            clock: for durations.
            metrics: where requests are counted.
        """
        self.app = app
        self._clock = clock
        self._metrics = metrics
        # Unique without asking the system for randomness on every request.
        self._id_prefix = secrets.token_hex(6).encode()
        self._id_numbers = itertools.count(1)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one ASGI connection scope."""
        if scope["type"] != "http":
            return self.app(scope, receive, send)
        request_id, method = self._request_id(scope), scope["method"]
        scope[REQUEST_ID] = request_id
        out = _Answer(send, request_id, method)
        serve = self._serve_head if method == "HEAD" else self._serve
        return serve(scope, receive, out)

    async def _serve_head(self, scope: Scope, receive: Receive, out: _Answer) -> None:
        """As GET (RFC 9110, 9.3.2), in a copy: the server asks its own scope about the body.

        The route that was found is put into the server's, for the layers around this one.
        """
        copy = {**scope, "method": "GET"}
        try:
            await self._serve(copy, receive, out)
        finally:
            if "route" in copy:
                scope["route"] = copy["route"]

    def _request_id(self, scope: Scope) -> bytes:
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _SANE_ID.fullmatch(value):
                return bytes(value)
        return b"%b-%x" % (self._id_prefix, next(self._id_numbers))

    async def _serve(self, scope: Scope, receive: Receive, out: _Answer) -> None:
        started = self._clock.monotonic()
        self._metrics.in_flight += 1
        try:
            await self.app(scope, receive, out.send)
        except ClientDisconnect:
            pass
        except Exception:
            _LOG.exception("request %s failed", scope[REQUEST_ID].decode())
            if out.status:
                raise  # half an answer is out: the server must cut the connection
            # Nothing of the error itself: it may hold what is nobody's business.
            detail = "something failed inside Bailiff: its log has more under this request id"
            await answer(scope, Refusal(ProblemCode.INTERNAL, detail))(scope, receive, out.send)
        finally:
            self._metrics.in_flight -= 1
            route = getattr(scope.get("route"), "path", "")
            seconds = self._clock.monotonic() - started
            self._metrics.observe(out.method, route, out.status or _CLIENT_GONE, seconds)
