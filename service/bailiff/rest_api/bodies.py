"""The bodies of questions and reviews: bounded in length. How fast they come the server bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from bailiff.decisions import Size
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Message, Receive

    from bailiff.rest_api.settings import RestSettings

_JSON = b"application/json"
# More than any length that can be, and little enough to be read as a number quickly.
_MAX_DIGITS = 19
# Bytes of one part of a body that comes in pieces, at least.
_PART = 64 * 1024
_HANG_UP = {"Connection": "close"}
_UNSUPPORTED = ProblemCode.UNSUPPORTED_MEDIA_TYPE


class Bodies:
    """Takes the bodies of all questions and reviews."""

    def __init__(self, settings: RestSettings) -> None:
        """Take the bounds from the settings."""
        self._settings = settings

    async def read(self, size: Size, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        """The body of a question of such a size; raises what `take` does."""
        return await self.take(*self._limits(size), headers, receive)

    async def take(
        self, limit: int, longest: int, headers: Mapping[bytes, bytes], receive: Receive
    ) -> bytes:
        """A body of JSON.

        Args:
            limit: bytes that are taken.
            longest: bytes that are taken where the body's length is announced.
            headers: of the request.
            receive: the request's channel.

        Raises:
            Refusal: unsupported_media_type, body_too_large.
            ClientDisconnect: the client hung up before the end, or was hung up on.
        """
        _require_json(headers)
        announced = _announced(headers)
        if announced > longest:
            raise _too_large(longest)
        if announced > limit:
            limit = longest
        message = await receive()
        # In one piece, as nearly all come.
        body = message["body"] if not message.get("more_body", True) else None
        if body is None:
            body = await _join(message, receive, limit)
        if len(body) > limit:
            raise _too_large(limit, longest)
        return body

    def _limits(self, size: Size) -> tuple[int, int]:
        """The longest body, and the longest of those that announce their length."""
        given = self._settings
        if size is Size.ONE:
            return given.max_body_bytes, given.max_body_bytes
        return given.max_batch_body_bytes, given.max_long_body_bytes


async def _join(message: Message, receive: Receive, limit: int) -> bytes:
    """All pieces in one; no more of them than show that they are longer than the limit."""
    # Added to one buffer, long ones would be copied again and again as it grows; kept as they come,
    # those of one byte would take fifty times as much.
    parts, length = [bytearray()], 0
    while message["type"] != "http.disconnect":
        piece: bytes = message.get("body", b"")
        if len(parts[-1]) >= _PART:
            parts.append(bytearray())
        parts[-1] += piece
        length += len(piece)
        if length > limit or not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    raise ClientDisconnect


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
