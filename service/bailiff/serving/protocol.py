"""What uvicorn leaves open: clients that send nothing, or too long a head, or read no answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

# From a status and what happened to the headers and the body of the answer to what never became a
# request. The status is BAD_REQUEST, REQUEST_HEADER_FIELDS_TOO_LARGE or SERVICE_UNAVAILABLE.
Refuse: TypeAlias = Callable[[HTTPStatus, str], tuple[dict[str, str], bytes]]


class Bounds(NamedTuple):
    """What a port bears before there is a request.

    Attributes:
        max_connections: open connections; more are refused with 503 and closed.
        header_timeout_seconds: time for a client to send the head of a request.
        max_header_bytes: length of the head of a request; the usual bound of reverse proxies is
            8 to 32 KiB.
        answer_timeout_seconds: time for a client to read what stands in the way of more, or of the
            end of the connection. Enough for the longest answers over a 5 Mbit/s line.
    """

    max_connections: int = 4096
    header_timeout_seconds: float = 10.0
    max_header_bytes: int = 32 * 1024
    answer_timeout_seconds: float = 60.0


BOUNDS = Bounds()


def in_words(_status: HTTPStatus, detail: str) -> tuple[dict[str, str], bytes]:
    """A refusal as plain text, for ports that have no form of their own for it."""
    return {"Content-Type": "text/plain; charset=utf-8"}, detail.encode()


def bounded_protocol(bounds: Bounds, refuse: Refuse) -> type[HttpToolsProtocol]:
    """Uvicorn's HTTP protocol with these bounds, and these words for what is beyond them."""
    return type("Bounded", (_BoundedProtocol,), {"bounds": bounds, "refuse": staticmethod(refuse)})


class _HeadTooLargeError(Exception):
    """The head of a request is longer than the bounds allow."""


class _BoundedProtocol(HttpToolsProtocol):
    """Bounds heads in time and length, connections in number, unread answers in time.

    The time costs nothing where a head comes in one piece, as nearly all do: the timer is set
    only while one is incomplete.
    """

    bounds: Bounds
    refuse: Refuse

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's, passed on
        super().__init__(*args, **kwargs)
        self._in_head = self._in_message = False
        self._begun = 0
        # Of pieces before the present one.
        self._head_bytes = 0
        # Since the head or the last of the body: trailers, or what frames the next chunk.
        self._framing_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None
        self._piece = b""
        # What is to be read once more: see on_headers_complete.
        self._again = b""
        self._offers_upgrade = False
        self.headers, self._header_count = [], 0

    # asyncio says BaseTransport, and hands over a Transport to a stream protocol; so does uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        most = self.bounds.max_connections
        if len(self.connections) > most:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"{most} connections are open already")
            return
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._answer_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        begins_in_head = self._in_head or not self._in_message
        self._piece, self._begun = data, 0
        super().data_received(data)
        if self._again:
            self._read_again()
        length, self._piece = len(self._piece), b""  # not kept while the connection is idle
        if self._head_timer is None and self._is_idle():
            # Bytes that begin no request have ended uvicorn's own waiting for one.
            self._wait_for_head()
        if self.transport.is_closing():
            return
        if self._in_head:
            is_one_head = begins_in_head and self._begun <= 1
            self._head_bytes += length if is_one_head else self._head_length()
            self._bound_head()
        elif self._in_message:
            self._bound_framing(length)

    def _bound_head(self) -> None:
        if self._head_bytes > self.bounds.max_header_bytes:
            self._refuse_head()
        elif self._head_timer is None:
            self._wait_for_head()

    def _bound_framing(self, length: int) -> None:
        """Count a piece: a chunk's extension and the trailers may have no end of their own."""
        self._drop_trailers()
        self._framing_bytes += length
        if self._framing_bytes > self.bounds.max_header_bytes:
            self.transport.close()

    def _drop_trailers(self) -> None:
        """Headers behind a chunked body are none of the request's: nobody has checked them."""
        del self.headers[self._header_count :]

    def on_message_begin(self) -> None:
        self._in_head = self._in_message = True
        self._begun += 1
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        longest = self.bounds.max_header_bytes
        # What came with the end of the head may be its body, so that the head itself is measured.
        is_short = self._head_bytes == 0 and len(self._piece) <= longest
        if not is_short and self._head_length() > longest:
            # The parser passes it on as what is no HTTP, and reads no further.
            raise _HeadTooLargeError
        if self.parser.should_upgrade():
            # The parser would skip the body, though no other protocol is spoken here.
            self._offers_upgrade = True
            return
        self._in_head = False
        self._head_bytes = 0
        self._framing_bytes = -len(self._piece)  # counted from the next piece on
        self._header_count = len(self.headers)
        self._head_arrived()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = -len(self._piece)
        HttpToolsProtocol.on_body(self, body)  # for each request: super() costs as much again

    def on_message_complete(self) -> None:
        if not self._offers_upgrade:
            self._in_message = False
            self._drop_trailers()
            super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Prepare to read the request as if it did not offer another protocol (RFC 9110, 7.8).

        That is uvicorn's name for what it does when the parser has stopped behind such a head.
        """
        (behind,) = getattr(sys.exception(), "args", (0,))
        self._offers_upgrade = False
        version = self.parser.get_http_version().encode()
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)
        kept = (b"%b: %b\r\n" % one for one in self.headers if one[0] != b"upgrade")
        self._again = b"%b%b\r\n%b" % (line, b"".join(kept), self._piece[behind:])

    def _read_again(self) -> None:
        """Once for a piece: whoever offers another protocol waits for the answer."""
        self.parser = httptools.HttpRequestParser(self)
        self._piece, self._again = self._again, b""
        super().data_received(self._piece)
        if self._again:
            self._again = b""
            self._refuse(HTTPStatus.BAD_REQUEST, "another protocol is offered twice")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._answer_read()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        # To close waits for the client to read what is left, for as long as it likes.
        self._wait_for_reader()

    def send_400_response(self, msg: str) -> None:
        if isinstance(getattr(sys.exception(), "__context__", None), _HeadTooLargeError):
            self._refuse_head()
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _is_idle(self) -> bool:
        """Nothing is being answered, and nobody waits for a request."""
        latest: RequestResponseCycle | None = self.cycle
        is_answered = latest is None or latest.response_complete
        return is_answered and self.timeout_keep_alive_task is None

    def _head_length(self) -> int:
        """The bytes of the request line and the headers, but for a few."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _refuse_head(self) -> None:
        detail = f"at most {self.bounds.max_header_bytes} bytes are allowed"
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, detail)

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer what never became a request, and hang up."""
        headers, body = self.refuse(status, detail)
        headers |= {"Content-Length": str(len(body)), "Connection": "close"}
        if status is HTTPStatus.SERVICE_UNAVAILABLE:
            headers["Retry-After"] = "1"
        lines = "".join(f"{name.lower()}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _wait_for_head(self) -> None:
        seconds = self.bounds.header_timeout_seconds
        self._head_timer = self.loop.call_later(seconds, self.transport.close)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _wait_for_reader(self) -> None:
        if self._unread_timer is None:
            seconds = self.bounds.answer_timeout_seconds
            self._unread_timer = self.loop.call_later(seconds, self.transport.abort)

    def _answer_read(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None
