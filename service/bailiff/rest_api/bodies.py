"""The bodies of questions: bounded in length, in time and in number."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bailiff.decisions import Size
from bailiff.rest_api.eager import Begun
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from starlette.types import Message, Receive

    from bailiff.rest_api.settings import RestSettings

_JSON = b"application/json"
# More than any length that can be, and little enough to be read as a number quickly.
_MAX_DIGITS = 19


class ClientGoneError(Exception):
    """The client hung up; there is nobody to answer."""


class Bodies:
    """Takes the bodies of all questions, few of the longest at a time."""

    def __init__(self, settings: RestSettings) -> None:
        """Take the bounds from the settings."""
        self._settings = settings
        self._long = 0

    async def answer(
        self,
        size: Size,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        work: Callable[[bytes], Awaitable[bytes]],
    ) -> bytes:
        """Read a body and answer it.

        Args:
            size: how long it may be.
            headers: of the request.
            receive: its ASGI channel.
            work: from body to answer.

        Raises:
            Refusal: unsupported_media_type, body_too_large, slow_body, overloaded.
            ClientGoneError: the client hung up before the end.
        """
        _require_json(headers)
        if size is Size.ONE:
            return await work(await self._read(headers, receive, self._settings.max_body_bytes))
        usual, longest = self._settings.max_batch_body_bytes, self._settings.max_long_body_bytes
        if _announced(headers) <= usual:
            return await work(await self._read(headers, receive, usual, longest))
        self._check_places()
        with self._place(receive) as counted:
            return await work(await self._read(headers, counted, longest))

    def _check_places(self) -> None:
        most, usual = self._settings.max_long_bodies, self._settings.max_batch_body_bytes
        if self._long >= most:
            detail = f"{most} bodies above {usual} bytes are being answered already"
            raise Refusal(ProblemCode.OVERLOADED, detail, headers={"Retry-After": "1"})

    @contextmanager
    def _place(self, receive: Receive) -> Iterator[Receive]:
        """A channel whose body takes a place among the long ones once it has become long.

        So who announces a long body and sends none keeps nobody from a place.
        """
        received, taken = 0, False

        async def counted() -> Message:
            nonlocal received, taken
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._settings.max_batch_body_bytes and not taken:
                self._check_places()
                self._long, taken = self._long + 1, True
            return message

        try:
            yield counted
        finally:
            self._long -= taken

    async def _read(
        self, headers: Mapping[bytes, bytes], receive: Receive, limit: int, announced: int = 0
    ) -> bytes:
        """The whole body; `announced` is the limit of those that announce their length."""
        if _announced(headers) > limit:
            raise _too_large(limit)
        first = Begun(receive())
        if first.finished and _is_whole(first.result, limit):
            return bytes(first.result["body"])
        seconds = self._settings.body_timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                body = await _join(await first, receive, limit)
        except TimeoutError as error:
            detail = f"the body must arrive within {seconds:g} s"
            hang_up = {"Connection": "close"}
            raise Refusal(ProblemCode.SLOW_BODY, detail, headers=hang_up) from error
        if body is None:
            raise _too_large(limit, announced)
        return body


def _is_whole(message: Message, limit: int) -> bool:
    if message["type"] != "http.request" or message.get("more_body"):
        return False
    return "body" in message and len(message["body"]) <= limit


async def _join(message: Message, receive: Receive, limit: int) -> bytes | None:
    """All pieces in one; None where they are longer than the limit."""
    pieces = bytearray()
    while True:
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        pieces += message.get("body", b"")
        if len(pieces) > limit:
            return None
        if not message.get("more_body"):
            return bytes(pieces)
        message = await receive()


def _require_json(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that says it is something else than plain JSON."""
    coding = headers.get(b"content-encoding")
    if coding is not None and coding.strip().lower() != b"identity":
        raise Refusal(
            ProblemCode.UNSUPPORTED_MEDIA_TYPE,
            "a Content-Encoding is not supported: send the body uncompressed",
            headers={"Accept-Encoding": "identity"},
        )
    kind = headers.get(b"content-type", _JSON)
    if kind == _JSON:
        return
    essence = kind.partition(b";")[0].strip().lower()
    if essence not in (_JSON, b"") and not essence.endswith(b"+json"):
        raise Refusal(
            ProblemCode.UNSUPPORTED_MEDIA_TYPE,
            "the body must be application/json",
            headers={"Accept": "application/json"},
        )


def _announced(headers: Mapping[bytes, bytes]) -> int:
    """The length of the body in bytes, as its sender tells it; 0 where it does not."""
    announced = headers.get(b"content-length", b"0")
    return int(announced[:_MAX_DIGITS]) if announced.isdigit() else 0


def _too_large(limit: int, announced: int = 0) -> Refusal:
    detail = f"at most {limit} bytes are allowed"
    if announced > limit:
        detail += f", and {announced} where Content-Length tells the length beforehand"
    # The rest of the body is not worth reading, so the connection cannot go on.
    return Refusal(ProblemCode.BODY_TOO_LARGE, detail, headers={"Connection": "close"})
