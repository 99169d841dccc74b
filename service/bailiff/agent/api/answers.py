"""One HTTP/1.1 answer as it comes in, bounded; parsed by httptools as in the servers."""

from __future__ import annotations

from typing import Any

import httptools

_MAX_HEAD = 64 * 1024
_PLAIN = (b"identity", b"")


class NoHttpError(Exception):
    """What has come is no HTTP, or none that was asked for."""


class Incoming:
    """Takes in what comes. Call `end` in the end.

    Attributes:
        status: the HTTP status; 0 before it has come.
        retry_after: the header of that name; None: there is none.
        in_head: the head is not over yet.
        complete: all of it is there.
        stays_open: the connection may be used again.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.status = 0
        self.retry_after: str | None = None
        self.in_head = True
        self.complete = False
        self.stays_open = False
        self._taken = 0
        self._parts: list[bytes] = []
        # httptools has no types of its own for callbacks.
        self._parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Take in what has come.

        Raises:
            NoHttpError: this is no HTTP, or none that was asked for.
        """
        if self.in_head:
            self._taken += len(data)
            if self._taken > _MAX_HEAD + len(data):
                raise NoHttpError(f"the head of the answer exceeds {_MAX_HEAD} bytes")
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise NoHttpError(f"the answer is no HTTP: {error}") from error

    def take(self) -> bytes:
        """What has come of the body since this was last asked."""
        parts, self._parts = self._parts, []
        return b"".join(parts)

    def end(self) -> None:
        """Let the parser go: it knows us and we know it, and only the collector frees such."""
        self._parser = None

    # What httptools calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Something compressed could be of any length."""
        match name.lower():
            case b"content-encoding" if value.strip().lower() not in _PLAIN:
                raise ValueError("compressed, which was not asked for")
            case b"retry-after":
                self.retry_after = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head is over; an interim answer (1xx) has none that counts."""
        status = self._parser.get_status_code()
        if status >= 200:
            self.status, self.in_head = status, False

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        self._parts.append(data)

    def on_message_complete(self) -> None:
        """All of it is there."""
        if not self.in_head:
            self.complete = True
            self.stays_open = self._parser.should_keep_alive()
