"""One HTTP answer of a kubelet, bounded in everything before it is understood.

Parsed by httptools (llhttp), which the servers use as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httptools

from bailiff.cluster.kubelets.errors import KubeletMalformedError, KubeletTooLongError

if TYPE_CHECKING:
    from typing import Any

_MAX_HEAD = 64 * 1024
# Of a refusal only so much is kept: a kubelet's own are one sentence.
_MAX_REFUSAL = 4 * 1024
# Pieces of a body that are kept apart; each takes some tens of bytes beside its own.
_MAX_PARTS = 8192
_OK = 200
_PLAIN = (b"identity", b"")


class Answer:
    """Takes in what comes, and says when all of it is there. Call `end` in the end.

    Attributes:
        status: the HTTP status, 0 before it has come.
        complete: all of it is there.
    """

    def __init__(self, max_bytes: int) -> None:
        """Begin with nothing.

        Args:
            max_bytes: of the body.
        """
        self.status = 0
        self.complete = False
        self._parts: list[bytes] = []
        self._size = 0
        self._max_bytes = max_bytes
        self._most = max_bytes
        self._taken = 0
        self._in_head = True
        self._stays_open = False
        self._encoded = False
        self._stray = False
        self._too_long = False
        # httptools has no types of its own for callbacks.
        self._parser: Any = httptools.HttpResponseParser(self)

    @property
    def body(self) -> bytes:
        """What has come of it; of a refusal the beginning."""
        self._join()
        return self._parts[0] if self._parts else b""

    def end(self) -> None:
        """Let the parser go: it knows us and we know it, and only the collector frees such."""
        self._parser = None

    @property
    def has_begun(self) -> bool:
        """Whether anything has come."""
        return self._taken > 0

    @property
    def may_be_followed(self) -> bool:
        """Whether the connection may be asked again."""
        return self.complete and self._stays_open and not self._stray

    def feed(self, data: bytes | memoryview) -> None:
        """Take in what has come.

        Raises:
            KubeletTooLongError: the body is longer than it may be.
            KubeletMalformedError: this is no HTTP, or none that is asked for.
        """
        self._taken += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise KubeletMalformedError(f"the answer is no HTTP: {error}") from error
        # What frames the body counts too: it may be one byte a chunk.
        if self._too_long or self._taken > 2 * self._max_bytes + _MAX_HEAD:
            raise KubeletTooLongError(f"the answer exceeds {self._max_bytes} bytes")
        if self._in_head and self._taken > _MAX_HEAD:
            raise KubeletMalformedError(f"the head of the answer exceeds {_MAX_HEAD} bytes")
        if self._encoded:
            raise KubeletMalformedError("the answer is compressed, which was not asked for")

    # What httptools calls.

    def on_message_begin(self) -> None:
        """An answer begins; there is to be one."""
        self._stray = self._stray or self.complete

    def on_header(self, name: bytes, value: bytes) -> None:
        """Something compressed could be of any length."""
        if name.lower() == b"content-encoding" and value.strip().lower() not in _PLAIN:
            self._encoded = True

    def on_headers_complete(self) -> None:
        """The head is over."""
        if self.complete:
            return
        self._in_head = False
        self.status = self._parser.get_status_code()
        if self.status != _OK:
            self._most = min(self._max_bytes, _MAX_REFUSAL)

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        if self.complete or self._too_long:
            return
        room = self._most - self._size
        if len(data) > room and self.status == _OK:
            self._too_long = True
            self._parts.clear()
            return
        self._parts.append(data[:room])
        self._size += len(self._parts[-1])
        if len(self._parts) > _MAX_PARTS:
            self._join()

    def on_message_complete(self) -> None:
        """All of it is there."""
        if not self.complete:
            self._stays_open = self._parser.should_keep_alive()
        self.complete = True

    def _join(self) -> None:
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
