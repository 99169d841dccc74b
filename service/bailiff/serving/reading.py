"""Requests as they come in pieces: heads and what frames a body are bounded in length."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bailiff.serving.admission import AUTHORITY
from bailiff.serving.bounds import Reason
from bailiff.serving.hosts import authority_of
from bailiff.serving.intake import LONG_PIECE
from bailiff.serving.pieces import SHORT_PIECE

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from bailiff.serving.bounds import Bounds
    from bailiff.serving.flow import Flow
    from bailiff.serving.pieces import Pieces


class _HeadTooLargeError(Exception):
    """The head of a request is longer than the bounds allow."""


class Reading(HttpToolsProtocol):
    """Uvicorn's HTTP protocol, which leaves open how long a head and trailers may be.

    What is too much or no HTTP goes to `refuse`; when the client has to send more, and when that
    has come, is told to `wait_for` and `arrived`.
    """

    bounds: Bounds
    pieces: Pieces
    _flow: Flow  # since the connection was made

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's, passed on
        super().__init__(*args, **kwargs)
        self._in_head = self._in_message = False
        self._begun = 0
        # Of pieces before the present one.
        self._head_bytes = 0
        # Since the head or the last of the body: trailers, or what frames the next chunk.
        self._framing_bytes = 0
        self._piece = b""
        # What has come and waits for its turn, and since when; the connection is not read from
        # meanwhile.
        self._waiting = b""
        self._came = 0.0
        # What is to be read once more: see _prepare_again.
        self._again = b""
        self._offers_upgrade = False
        self.headers, self._header_count = [], 0
        # The client has been refused: what it goes on sending is not looked at.
        self._is_refused = False

    def refuse(self, reason: Reason, detail: str) -> None:
        """Answer it where that can be done, and hang up."""
        raise NotImplementedError

    def wait_for(self, reason: Reason) -> None:
        """From now on the client owes us a head or a body, unless it did already."""
        raise NotImplementedError

    def arrived(self) -> None:
        """The client owes us neither a head nor a body."""
        raise NotImplementedError

    def sent_much(self, length: int) -> None:
        """A piece of so many bytes has come: others first, before there is more of it."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:  # noqa: D102 - asyncio's
        if self._waiting or (len(data) <= SHORT_PIECE and not self.pieces.is_time()):
            self._let_wait(data)
            return
        if len(data) >= LONG_PIECE:
            self.sent_much(len(data))
        self._look_at(data)

    def _let_wait(self, data: bytes) -> None:
        if not self._waiting:
            self._came = monotonic()
            self._unset_keepalive_if_required()
            self._flow.hold()
            self.pieces.wait(self._peer, self._look_at_waiting)
        self._waiting += data

    def _look_at_waiting(self) -> None:
        data, self._waiting = self._waiting, b""
        if not data:
            return
        self._flow.let_go()
        try:
            self._look_at(data)
        except BaseException:
            self.transport.abort()  # as the event loop does where it calls data_received itself
            raise
        finally:
            self._came = 0.0

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102 - asyncio's
        self._waiting = b""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn does so where the client said goodbye

    def shutdown(self) -> None:
        """Uvicorn's, before the server stops: a request that has come is answered."""
        self._look_at_waiting()
        super().shutdown()

    def _look_at(self, data: bytes) -> None:
        if self._is_over():
            return
        self._unset_keepalive_if_required()
        begins_in_head = self._in_head or not self._in_message
        self._piece, self._begun = data, 0
        self._feed(data)
        if self._again:
            self._read_again()
        length, self._piece = len(self._piece), b""  # not kept while the connection is idle
        if self._in_message or self._is_idle():
            self._expect_more(length, is_one_head=begins_in_head and self._begun <= 1)

    def _expect_more(self, length: int, *, is_one_head: bool) -> None:
        """Bound what is incomplete, in length and in time."""
        if self._is_over():
            return
        if self._in_message and not self._in_head:
            self._bound_framing(length)
            self.wait_for(Reason.SLOW_BODY)
            return
        if self._in_head:
            self._head_bytes += length if is_one_head else self._head_length()
            if self._head_bytes > self.bounds.max_header_bytes:
                self._refuse_head()
                return
        # Bytes that begin no request have ended uvicorn's own waiting for one: a head is due too.
        self.wait_for(Reason.SLOW_HEAD)

    def _feed(self, data: bytes) -> None:
        """Parse, without uvicorn's line in the log for each piece that is no HTTP."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._prepare_again(offer)
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, _HeadTooLargeError):
                self._refuse_head()
            else:
                self.refuse(Reason.MALFORMED, "Invalid HTTP request received.")

    def _bound_framing(self, length: int) -> None:
        """Count a piece: a chunk's extension and the trailers may have no end of their own."""
        self._drop_trailers()
        self._framing_bytes += length
        if self._framing_bytes > self.bounds.max_header_bytes:
            detail = f"at most {self.bounds.max_header_bytes} bytes of trailers are allowed"
            self.refuse(Reason.TRAILERS, detail)

    def _drop_trailers(self) -> None:
        """Headers behind a chunked body are none of the request's: nobody has checked them."""
        del self.headers[self._header_count :]

    def on_message_begin(self) -> None:  # noqa: D102 - uvicorn's
        self._in_head = self._in_message = True
        self._begun += 1
        super().on_message_begin()

    def on_headers_complete(self) -> None:  # noqa: D102 - uvicorn's
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
        self.arrived()
        if authority := authority_of(self.url):
            cast("Any", self.scope)[AUTHORITY] = authority  # uvicorn keeps no more than the path
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:  # noqa: D102 - uvicorn's
        self._framing_bytes = -len(self._piece)
        HttpToolsProtocol.on_body(self, body)  # for each request: super() costs as much again

    def on_message_complete(self) -> None:  # noqa: D102 - uvicorn's
        if not self._offers_upgrade:
            self._in_message = False
            self._drop_trailers()
            self.arrived()
            super().on_message_complete()

    def _prepare_again(self, offer: httptools.HttpParserUpgrade) -> None:
        """Prepare to read the request as if it did not offer another protocol (RFC 9110, 7.8)."""
        (behind,) = offer.args
        self._offers_upgrade = False
        version = self.parser.get_http_version().encode()
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)
        kept = (b"%b: %b\r\n" % one for one in self.headers if one[0] != b"upgrade")
        self._again = b"%b%b\r\n%b" % (line, b"".join(kept), self._piece[behind:])

    def _read_again(self) -> None:
        """Once for a piece: whoever offers another protocol waits for the answer."""
        self.parser = httptools.HttpRequestParser(self)
        self._piece, self._again = self._again, b""
        self._feed(self._piece)
        if self._again:
            self._again = b""
            self.refuse(Reason.MALFORMED, "another protocol is offered twice")

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def _is_over(self) -> bool:
        return self._is_refused or self.transport.is_closing()

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
        self.refuse(Reason.HEAD_TOO_LARGE, detail)
