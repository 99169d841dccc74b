"""Servers for the clients that answer as a test scripts it, over either transport."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bailiff.client import ClientSettings, Retries
from bailiff.client.messages import DecideBatchResponse, DecideResponse
from tests.harness import scripted_grpc, scripted_server
from tests.harness.ways import WAYS, Ports

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import grpc

REST, GRPC = WAYS[:2], WAYS[2:]
# Pauses that no test has to wait for.
QUICK = ClientSettings(
    timeout=5.0, attempt_timeout=2.0, retries=Retries(first_pause=0.02, longest_pause=0.05)
)
QUESTION: dict[str, Any] = {"pod": {}, "systems": ["node-taints"]}
ANSWER = {"decision": {"verdict": "KEEP", "reason": "NoTaint"}}


def part(*reasons: str) -> bytes:
    answer = DecideBatchResponse()
    for reason in reasons:
        answer.decisions.add().reason = reason
    return answer.SerializeToString()


class Script:
    """What each call gets, in order: a function of it."""

    def __init__(self, *steps: Callable[..., Any]) -> None:
        self._steps = list(steps)
        self.calls = 0

    def _next(self) -> Callable[..., Any]:
        self.calls += 1
        return self._steps[min(self.calls, len(self._steps)) - 1]

    async def rest(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        response: web.StreamResponse = await self._next()(request)
        return response

    async def grpc(self, requests: Any, context: Any) -> AsyncIterator[bytes]:
        async for _ in requests:
            break
        async for message in self._next()(context):
            yield message


@contextlib.asynccontextmanager
async def scripted(way: str, script: Script) -> AsyncIterator[Ports]:
    serving = (
        scripted_server.serving(script.rest) if way in REST else scripted_grpc.serving(script.grpc)
    )
    async with serving as port:
        yield Ports(port, port)


async def ok(_: Any) -> web.Response:
    return web.json_response(ANSWER)


async def ok_grpc(_: Any) -> AsyncIterator[bytes]:
    answer = DecideResponse()
    answer.decision.reason = "NoTaint"
    yield answer.SerializeToString()


def problem(status: int, code: str, retry_after: str | None = None) -> Callable[..., Any]:
    async def refusing(_: web.Request) -> web.Response:
        headers = {"X-Request-Id": "r-1"} | ({"Retry-After": retry_after} if retry_after else {})
        body = {"code": code, "detail": "no room", "errors": []}
        return web.json_response(body, status=status, headers=headers)

    return refusing


def status(code: grpc.StatusCode, reason: str, retry: float | None = None) -> Callable[..., Any]:
    async def refusing(context: Any) -> AsyncIterator[bytes]:
        more = [] if retry is None else [scripted_grpc.retry_info(retry)]
        await scripted_grpc.refuse(context, code, reason, "no room", *more)
        yield b""

    return refusing
