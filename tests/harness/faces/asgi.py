"""Calls an ASGI application the way a server does, with no network between."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def scope_of(method: str, target: str, headers: Mapping[str, str]) -> dict[str, Any]:
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def call(
    app: ASGIApp,
    method: str,
    target: str,
    body: object = b"",
    headers: Mapping[str, str] | None = None,
    *,
    messages: Iterable[Message] | None = None,
) -> Answer:
    """One request. `body` that is not bytes is sent as JSON; `messages` replaces the body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    incoming = iter([{"type": "http.request", "body": content}] if messages is None else messages)
    outgoing: list[Message] = []
    received = 0

    async def receive() -> Message:
        nonlocal received
        if received:
            await asyncio.sleep(0)  # pieces come one by one, and others have their turn between
        received += 1
        message = next(incoming, None)
        if message is None:
            await asyncio.Event().wait()  # as a server does: nothing comes until the client acts
        assert message is not None
        return message

    async def send(message: Message) -> None:
        outgoing.append(message)

    given = {"content-type": "application/json"} if headers is None else headers
    await app(scope_of(method, target, given), receive, send)
    return _answer(outgoing)


def _answer(outgoing: list[Message]) -> Answer:
    if not outgoing:
        return Answer(status=0, headers={}, body=b"")
    start, *rest = outgoing
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    assert len(headers) == len(start["headers"]), "a header was sent twice"
    return Answer(start["status"], headers, b"".join(part["body"] for part in rest))
