"""One request and its answer, as ASGI carries them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.rest.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.types import Message, Receive, Scope, Send

JSON = b"application/json"


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


async def read_body(
    headers: Mapping[bytes, bytes], receive: Receive, limit: int, seconds: float
) -> bytes:
    """The whole body.

    Args:
        headers: of the request.
        receive: its ASGI channel.
        limit: bytes.
        seconds: time for all of it.

    Raises:
        Refusal: body_too_large, by what is announced or by what comes; slow_body.
        ClientGoneError: the client hung up before the end.
    """
    announced = headers.get(b"content-length")
    if announced is not None and announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(seconds):
            return await _receive_all(receive, limit)
    except TimeoutError as error:
        detail = f"the body must arrive within {seconds:g} s"
        raise Refusal(ProblemCode.SLOW_BODY, detail, headers={"Connection": "close"}) from error


async def _receive_all(receive: Receive, limit: int) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        # Nearly every request is this one message: no list, no copy.
        body = message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        return bytes(body)
    return await _join(message, receive, limit)


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
