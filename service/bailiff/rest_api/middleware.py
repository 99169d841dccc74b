"""The outermost layer: what is true of every answer.

Every answer carries a request id, every failure is a problem, every request is measured, and
there are never more at once than allowed. Nothing that goes wrong inside gets past.
"""

from __future__ import annotations

import itertools
import logging
import re
import secrets
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException

from bailiff.decisions import FactsError
from bailiff.kinds import DecodeError
from bailiff.rest_api.exchange import ClientGoneError, header, reply
from bailiff.rest_api.problems import MEDIA_TYPE, STATUS, ProblemCode, Refusal, refusal_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bailiff.clock import Clock
    from bailiff.rest_api.meters import Meters

_LOG = logging.getLogger(__name__)
_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ENCODE = msgspec.json.Encoder().encode
# What nginx made the custom for a client that hung up; never sent, only counted.
_CLIENT_GONE = 499


class _Answer:
    """The way out for one request: puts the request id on it and sees what status it got."""

    __slots__ = ("_send", "request_id", "status")

    def __init__(self, send: Send, request_id: bytes) -> None:
        self._send = send
        self.request_id = request_id
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self.request_id)]
        await self._send(message)


class Boundary:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, clock: Clock, meters: Meters, max_in_flight: int) -> None:
        """Wrap.

        Args:
            app: what answers.
            clock: for durations.
            meters: where requests are counted.
            max_in_flight: requests at the same time; more are refused at once.
        """
        self._app = app
        self._clock = clock
        self._meters = meters
        self._max_in_flight = max_in_flight
        # Unique without asking the system for randomness on every request.
        self._id_prefix = secrets.token_hex(6)
        self._id_numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._clock.monotonic()
        answer = _Answer(send, self._request_id(scope))
        self._meters.in_flight += 1
        try:
            await self._serve(scope, receive, answer)
        finally:
            self._meters.in_flight -= 1
            route = getattr(scope.get("route"), "path", "")
            seconds = self._clock.monotonic() - started
            self._meters.observe(scope["method"], route, answer.status or _CLIENT_GONE, seconds)

    def _check_load(self) -> None:
        if self._meters.in_flight > self._max_in_flight:
            detail = f"{self._max_in_flight} requests are being answered already"
            raise Refusal(ProblemCode.OVERLOADED, detail, headers={"Retry-After": "1"})

    def _request_id(self, scope: Scope) -> bytes:
        given = header(scope, b"x-request-id")
        if given is not None and _SANE_ID.fullmatch(given):
            return given
        return f"{self._id_prefix}-{next(self._id_numbers):x}".encode()

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            self._check_load()
            await self._app(scope, receive, answer.send)
        except ClientGoneError:
            return
        except Exception as error:
            refusal = _refusal(error)
            if refusal.code is ProblemCode.INTERNAL:
                _LOG.exception("request %s failed", answer.request_id.decode())
            if answer.status:
                raise  # half an answer is out: the server must cut the connection
            await _refuse(scope, answer, refusal)


def _refusal(error: Exception) -> Refusal:
    match error:
        case Refusal():
            return error
        case DecodeError() | FactsError():
            return refusal_of(error)
        case HTTPException(status_code=404):
            return Refusal(ProblemCode.NOT_FOUND, "there is nothing at this path: see /docs")
        case HTTPException(status_code=405):
            allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
            detail = f"this path answers {allowed}"
            return Refusal(ProblemCode.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed})
        case _:
            # Nothing of the error itself: it may hold what is nobody's business.
            detail = "something failed inside Bailiff: its log has more under this request id"
            return Refusal(ProblemCode.INTERNAL, detail)


async def _refuse(scope: Scope, answer: _Answer, refusal: Refusal) -> None:
    problem = refusal.problem(answer.request_id.decode(), scope["path"])
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    await reply(
        answer.send,
        _ENCODE(problem),
        status=STATUS[refusal.code][0].value,
        media_type=MEDIA_TYPE.encode(),
        headers=headers,
        head=scope["method"] == "HEAD",
    )
