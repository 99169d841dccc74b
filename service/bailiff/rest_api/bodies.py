"""One request and its answer, as ASGI carries them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.rest_api.eager import Begun
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.types import Message, Receive, Scope, Send

JSON = b"application/json"
# More than any length that can be, and little enough to be read as a number quickly.
_MAX_DIGITS = 19


class ClientGoneError(Exception):
    """The client hung up; there is nobody to answer."""


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this lower-case name, or None."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def require_json(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that says it is something else than plain JSON.

    Raises:
        Refusal: unsupported_media_type.
    """
    coding = headers.get(b"content-encoding")
    if coding is not None and coding.strip().lower() != b"identity":
        raise Refusal(
            ProblemCode.UNSUPPORTED_MEDIA_TYPE,
            "a Content-Encoding is not supported: send the body uncompressed",
            headers={"Accept-Encoding": "identity"},
        )
    kind = headers.get(b"content-type")
    if kind is None or kind == JSON:
        return
    essence = kind.partition(b";")[0].strip().lower()
    if essence not in (JSON, b"") and not essence.endswith(b"+json"):
        raise Refusal(
            ProblemCode.UNSUPPORTED_MEDIA_TYPE,
            "the body must be application/json",
            headers={"Accept": "application/json"},
        )


def announced_length(headers: Mapping[bytes, bytes]) -> int:
    """The length of the body in bytes, as its sender tells it; 0 where it does not."""
    announced = headers.get(b"content-length", b"0")
    return int(announced[:_MAX_DIGITS]) if announced.isdigit() else 0


async def read_body(
    given: Mapping[bytes, bytes], receive: Receive, limit: int, seconds: float
) -> bytes:
    """The whole body.

    Args:
        given: the headers of the request.
        receive: its ASGI channel.
        limit: bytes.
        seconds: time for all of it.

    Raises:
        Refusal: body_too_large, by what is announced or by what comes; slow_body.
        ClientGoneError: the client hung up before the end.
    """
    if announced_length(given) > limit:
        raise _too_large(limit)
    first = Begun(receive())
    if first.finished and _is_whole(first.result) and len(first.result["body"]) <= limit:
        return bytes(first.result["body"])
    try:
        async with asyncio.timeout(seconds):
            return await _join(await first, receive, limit)
    except TimeoutError as error:
        detail = f"the body must arrive within {seconds:g} s"
        headers = {"Connection": "close"}
        raise Refusal(ProblemCode.SLOW_BODY, detail, headers=headers) from error


def _is_whole(message: Message) -> bool:
    return message["type"] == "http.request" and "body" in message and not message.get("more_body")


async def _join(message: Message, receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return bytes(body)
        message = await receive()


def _too_large(limit: int) -> Refusal:
    # The rest of the body is not worth reading, so the connection cannot go on.
    detail = f"at most {limit} bytes are allowed"
    return Refusal(ProblemCode.BODY_TOO_LARGE, detail, headers={"Connection": "close"})


async def reply(
    send: Send,
    body: bytes,
    *,
    status: int = 200,
    media_type: bytes = JSON,
    headers: Iterable[tuple[bytes, bytes]] = (),
    head: bool = False,
) -> None:
    """Send an answer in one go.

    Args:
        send: the ASGI channel.
        body: the content.
        status: the HTTP status.
        media_type: of the content.
        headers: further ones.
        head: the request was HEAD: the length is told, the content is not sent.
    """
    length = str(len(body)).encode()
    start = [(b"content-type", media_type), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": b"" if head else body})
