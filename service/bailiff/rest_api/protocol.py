"""What uvicorn leaves open: clients that connect and send nothing, or too long a head."""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bailiff.rest_api.problems import MEDIA_TYPE, STATUS, ProblemCode, Refusal

if TYPE_CHECKING:
    import asyncio

    from bailiff.rest_api.settings import RestSettings


def bounded_protocol(settings: RestSettings) -> type[HttpToolsProtocol]:
    """Uvicorn's HTTP protocol with the bounds of these settings."""

    class Bounded(_BoundedProtocol):
        bounds = settings

    return Bounded


class _BoundedProtocol(HttpToolsProtocol):
    """Bounds the head of a request in time and length, and the number of connections.

    The time costs nothing where a head comes in one piece, as nearly all do: the timer is set
    only while one is incomplete.
    """

    bounds: RestSettings

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's, passed on
        super().__init__(*args, **kwargs)
        self._in_head = False
        self._head_bytes = 0
        self._piece_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    # asyncio says BaseTransport, and hands over a Transport to a stream protocol; so does uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.bounds.max_connections:
            detail = f"{self.bounds.max_connections} connections are open already"
            self._refuse(Refusal(ProblemCode.OVERLOADED, detail, headers={"Retry-After": "1"}))
            return
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._piece_bytes = len(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > self.bounds.max_header_bytes:
            self._refuse(self._head_too_large())
        elif self._head_timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        longest = self.bounds.max_header_bytes
        # What came with the end of the head may be its body, so that the head itself is measured.
        if self._head_bytes + self._piece_bytes > longest and self._head_length() > longest:
            # The parser passes it on as what is no HTTP, and reads no further.
            raise self._head_too_large()
        self._in_head = False
        self._head_bytes = 0
        self._head_arrived()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        known = getattr(sys.exception(), "__context__", None)
        malformed = Refusal(ProblemCode.MALFORMED_REQUEST, msg)
        self._refuse(known if isinstance(known, Refusal) else malformed)

    def _head_length(self) -> int:
        """The bytes of the request line and the headers, but for a few."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _head_too_large(self) -> Refusal:
        detail = f"at most {self.bounds.max_header_bytes} bytes are allowed"
        return Refusal(ProblemCode.HEAD_TOO_LARGE, detail)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer what never became a request, and hang up."""
        self.transport.write(_written(refusal))
        self.transport.close()

    def _wait_for_head(self) -> None:
        seconds = self.bounds.header_timeout_seconds
        self._head_timer = self.loop.call_later(seconds, self.transport.close)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _written(refusal: Refusal) -> bytes:
    """A whole HTTP answer, in bytes."""
    status = STATUS[refusal.code][0]
    request_id = secrets.token_hex(6)
    body = msgspec.json.encode(refusal.problem(request_id, ""))
    headers = {
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
        "X-Request-Id": request_id,
        **refusal.headers,
    }
    lines = "".join(f"{name.lower()}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n".encode() + body
