"""The bodies of questions: bounded in length, in time and in number."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from bailiff.decisions import Size
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping

    from starlette.types import Message, Receive

    from bailiff.rest_api.settings import RestSettings

_JSON = b"application/json"
# More than any length that can be, and little enough to be read as a number quickly.
_MAX_DIGITS = 19
_HANG_UP = {"Connection": "close"}
_UNSUPPORTED = ProblemCode.UNSUPPORTED_MEDIA_TYPE


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
        """Read a body of such a size and answer it by `work`, which is given its bytes.

        Raises:
            Refusal: unsupported_media_type, body_too_large, slow_body, overloaded.
            ClientDisconnect: the client hung up before the end.
        """
        _require_json(headers)
        announced = _announced(headers)
        if size is Size.ONE:
            return await work(await self._read(announced, receive, self._settings.max_body_bytes))
        usual, longest = self._settings.max_batch_body_bytes, self._settings.max_long_body_bytes
        if announced <= usual:
            return await work(await self._read(announced, receive, usual, longest))
        self._check_places()
        with self._place(receive) as counted:
            return await work(await self._read(announced, counted, longest))

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

    async def _read(self, announced: int, receive: Receive, limit: int, longest: int = 0) -> bytes:
        """The whole body; `longest` is the limit of those that announce their length."""
        if announced > limit:
            raise _too_large(limit)
        first = Begun(receive())
        message = first.result or {}
        body: bytes | None = None if message.get("more_body") else message.get("body")
        if body is None:  # it did not come in one piece, as nearly all do
            body = await self._join(first, receive, limit)
        if len(body) > limit:
            raise _too_large(limit, longest)
        return body

    async def _join(self, first: Begun, receive: Receive, limit: int) -> bytes:
        """All pieces in one; no more of them than show that they are longer than the limit."""
        seconds, pieces = self._settings.body_timeout_seconds, bytearray()
        try:
            async with asyncio.timeout(seconds):
                message = first.result or await first
                while message["type"] != "http.disconnect":
                    pieces += message.get("body", b"")
                    if len(pieces) > limit or not message.get("more_body"):
                        return bytes(pieces)
                    message = await receive()
        except TimeoutError as error:
            detail = f"the body must arrive within {seconds:g} s"
            raise Refusal(ProblemCode.SLOW_BODY, detail, headers=_HANG_UP) from error
        raise ClientDisconnect


class Begun:
    """Waiting for a message, after its first step: a message that is there is taken at once.

    Nearly every body is there when its request begins, and a timer for each would cost more than
    decoding it; so the timer is set only for a body that is really waited for.

    Attributes:
        result: the message; None: it is still to be awaited, once, in the task that began.
    """

    __slots__ = ("_steps", "_waits_for", "result")

    def __init__(self, awaitable: Awaitable[Message]) -> None:
        """Take the first step; raises what that raises."""
        self._steps = awaitable.__await__()
        self.result: Message | None = None
        try:
            self._waits_for = next(self._steps)
        except StopIteration as end:
            self.result = end.value

    def __await__(self) -> Generator[Any, Any, Message]:
        """Go on from the first step."""
        try:
            yield self._waits_for
            return (yield from self._steps)
        finally:
            self._steps.close()


def _require_json(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that says it is something else than plain JSON."""
    coding = headers.get(b"content-encoding")
    if coding is not None and coding.strip().lower() != b"identity":
        detail = "a Content-Encoding is not supported: send the body uncompressed"
        raise Refusal(_UNSUPPORTED, detail, headers={"Accept-Encoding": "identity"})
    kind = headers.get(b"content-type", _JSON)
    if kind == _JSON:
        return
    essence = kind.partition(b";")[0].strip().lower()
    if essence not in (_JSON, b"") and not essence.endswith(b"+json"):
        detail = "the body must be application/json"
        raise Refusal(_UNSUPPORTED, detail, headers={"Accept": "application/json"})


def _announced(headers: Mapping[bytes, bytes]) -> int:
    """The length of the body in bytes, as its sender tells it; 0 where it does not."""
    announced = headers.get(b"content-length", b"0")
    return int(announced[:_MAX_DIGITS]) if announced.isdigit() else 0


def _too_large(limit: int, longest: int = 0) -> Refusal:
    detail = f"at most {limit} bytes are allowed"
    if longest > limit:
        detail += f", and {longest} where Content-Length tells the length beforehand"
    # The rest of the body is not worth reading, so the connection cannot go on.
    return Refusal(ProblemCode.BODY_TOO_LARGE, detail, headers=_HANG_UP)
