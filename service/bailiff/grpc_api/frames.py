"""What a client makes the server hold: calls that nobody serves, messages that are not whole.

Walks over the frames of HTTP/2 (RFC 9113, section 4) and the heads of gRPC's messages in them
(grpc/doc/PROTOCOL-HTTP2.md), and reads nothing else: what a frame means is grpcio's business, and
what is no HTTP/2 grpcio refuses. A message that comes in one frame, as most do, costs a look at it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from bailiff.grpc_api.pacing import MOST_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.grpc_api.pacing import Pacing

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEAD = 9
# The length in three bytes, the kind, the flags, and the stream.
_STREAM = 0x7FFFFFFF  # its first bit is reserved
_FRAME = struct.Struct(">HBBBI").unpack_from
# A byte for compression, and the length in four.
_PREFIX = 5

_DATA, _HEADERS, _RST_STREAM = 0, 1, 3
_END_STREAM, _PADDED = 0x1, 0x8


class FramingError(Exception):
    """Frames of which grpcio and we might not think the same.

    Streams of a client have odd, ascending numbers (RFC 9113, 5.1.1). grpcio ignores an even one
    without a word, and one that it refuses does not raise its count: whoever could have us believe
    in such a stream could hide all later ones from us.
    """


class _Frames:
    """Cuts one direction's bytes into frames, however they arrive."""

    __slots__ = ("_head", "_left")

    def __init__(self, skip: int = 0) -> None:
        """Prepare; the first `skip` bytes are no frames."""
        # The beginning of a frame's head, and bytes of a frame's payload that are to come.
        self._head = b""
        self._left = skip

    def _stop_at(self, data: bytes, position: int) -> None:
        """The next frame begins here, perhaps beyond these bytes."""
        missing = position - len(data)
        if missing > 0:
            self._left = missing
        else:
            self._head = data[position:]


class _Message:
    """A message of a stream, as far as it has come."""

    __slots__ = ("left", "prefix", "since", "taken")

    def __init__(self, since: float) -> None:
        self.since = since
        self.prefix = b""
        # Of what follows the prefix.
        self.taken = self.left = 0

    def held(self) -> int:
        return len(self.prefix) + self.taken

    def take(self, data: bytes, start: int, stop: int) -> int:
        """Take what belongs to it; where the rest begins."""
        missing = _PREFIX - len(self.prefix)
        if missing:
            piece = data[start : min(stop, start + missing)]
            self.prefix += piece
            if len(self.prefix) == _PREFIX:
                self.left = int.from_bytes(self.prefix[1:], "big")
            return start + len(piece)
        taken = min(self.left, stop - start)
        self.left -= taken
        self.taken += taken
        return start + taken

    def is_whole(self) -> bool:
        return len(self.prefix) == _PREFIX and not self.left

    def length(self) -> int:
        """Without the prefix, as far as that has come."""
        return self.taken + self.left


class Inbound(_Frames):
    """What a client sends.

    Attributes:
        pacing: how much of the client's address may be led in.
        held: bytes of messages that are not whole yet, of all streams.
        begun: when the streams came that nobody has begun to serve, in their order.
        ended: how many streams have ended.
    """

    __slots__ = (
        "_came",
        "_last",
        "_padding",
        "_stream",
        "_streams",
        "begun",
        "ended",
        "held",
        "pacing",
    )

    def __init__(self, pacing: Pacing) -> None:
        """Prepare; nothing has come."""
        super().__init__(len(PREFACE))
        self.pacing = pacing
        # When the bytes came that are walked over.
        self._came = 0.0
        self._last = 0
        # Of the frame whose payload is coming, if it is one of DATA: its stream, else 0.
        self._stream = 0
        # Bytes at the end of the frame that are none of a message; None: not told yet.
        self._padding: int | None = 0
        # Streams that neither side has ended, and the message of each that is not whole.
        self._streams: dict[int, _Message | None] = {}
        self.held = 0
        self.begun: dict[int, float] = {}
        self.ended = 0

    def open(self) -> int:
        """How many streams neither side has ended."""
        return len(self._streams)

    def serve(self) -> float | None:
        """Somebody begins to serve a stream; when it came.

        grpcio does not tell which: it is the first, but for calls of several methods that pass
        each other. None: the client has ended it.
        """
        if not self.begun:
            return None
        self.pacing.begin()
        return self.begun.pop(next(iter(self.begun)))

    def oldest(self) -> float | None:
        """When the oldest message began that is not whole yet; None: all are."""
        return min((one.since for one in self._streams.values() if one is not None), default=None)

    def longest(self) -> int:
        """Bytes of the longest message that is not whole yet, once it is; 0: all are."""
        return max((one.length() for one in self._streams.values() if one is not None), default=0)

    def end(self, stream: int, *, reset: bool = False) -> None:
        """A stream has ended, reset by its client or not; what still comes in it nobody holds."""
        self.ended += 1
        if self.begun.pop(stream, None) is not None:
            self.pacing.begin(reset=reset)
        message = self._streams.pop(stream, None)
        if message is not None:
            self.held -= message.held()

    def give_up(self) -> None:
        """The client has gone, and with it all that it has begun."""
        while self.begun:
            self.end(next(iter(self.begun)), reset=True)

    def feed(self, data: bytes, came: float) -> int:
        """Walk over bytes that came at this time, up to what there is no room for.

        Returns:
            How many of them; the others are to be fed again.

        Raises:
            FramingError: no client of gRPC sends such frames.
        """
        self._came = came
        before = len(self._head)
        if before:
            data, self._head = self._head + data, b""
        position, end = self._rest(data), len(data)
        pacing = self.pacing
        if pacing.frames * _HEAD < end:
            pacing.refill()
        while end - position >= _HEAD:
            high, low, kind, flags, stream = _FRAME(data, position)
            stream &= _STREAM
            if pacing.frames < 1 or (kind == _HEADERS and pacing.calls >= MOST_CALLS):
                # The beginning of this head may have been led in with the bytes before.
                self._head = data[position:before]
                return max(0, position - before)
            pacing.frames -= 1
            position += _HEAD
            length = high << 8 | low
            if kind == _DATA and stream in self._streams:
                self._data(data, position, length, flags, stream)
            else:
                self._other(kind, stream)
            position += length
        if not self._left:
            self._stop_at(data, position)
        return end - before

    def _other(self, kind: int, stream: int) -> None:
        """A frame has begun that brings nothing of a message."""
        self._stream = 0
        if kind == _HEADERS:
            self._headers(stream)
        elif kind == _RST_STREAM:
            self.end(stream, reset=True)

    def _rest(self, data: bytes) -> int:
        """Take what belongs to the frame that had begun; where the next one begins."""
        stop = min(self._left, len(data))
        if self._stream:
            self._payload(data, 0, stop)
        self._left -= stop
        return stop

    def _headers(self, stream: int) -> None:
        if stream > self._last and stream & 1:
            self._last = stream
            self._streams[stream] = None
            self.begun[stream] = self._came
            self.pacing.calls += 1
        elif stream not in self._streams:  # else they are trailers
            raise FramingError(f"headers of stream {stream} after those of {self._last}")

    def _data(self, data: bytes, start: int, length: int, flags: int, stream: int) -> None:
        """A DATA frame has begun."""
        stop = min(start + length, len(data))
        is_plain = not flags & _PADDED and stop - start == length
        if is_plain and self._streams[stream] is None and _is_whole(data, start, stop):
            return
        self._stream = stream
        self._padding = None if flags & _PADDED else 0
        self._left = length
        self._payload(data, start, stop)
        self._left = 0

    def _payload(self, data: bytes, start: int, stop: int) -> None:
        """Some of the payload of a DATA frame, of which `_left` bytes were to come."""
        if self._stream not in self._streams or start == stop:
            return
        after = self._left - (stop - start)
        if self._padding is None:
            self._padding = data[start]
            start += 1
        # The frame's last bytes are its padding.
        self._add(data, start, min(stop, stop + after - self._padding))

    def _add(self, data: bytes, start: int, stop: int) -> None:
        message = self._streams[self._stream]
        before = 0 if message is None else message.held()
        while start < stop:
            if message is None:
                if _is_whole(data, start, stop):
                    break
                message = _Message(self._came)
            start = message.take(data, start, stop)
            if message.is_whole():
                message = None
        self._streams[self._stream] = message
        self.held += (0 if message is None else message.held()) - before


def _is_whole(data: bytes, start: int, stop: int) -> bool:
    """Whether these bytes are one message."""
    return int.from_bytes(data[start + 1 : start + _PREFIX], "big") == stop - start - _PREFIX


class Outbound(_Frames):
    """What the server sends: the streams that it ends."""

    __slots__ = ("_ended",)

    def __init__(self, ended: Callable[[int], None]) -> None:
        """Prepare; `ended` is told each stream that has ended."""
        super().__init__()
        self._ended = ended

    def feed(self, data: bytes) -> None:
        """The bytes that have come."""
        if self._head:
            data, self._head = self._head + data, b""
        position, end = self._left, len(data)
        self._left = 0
        while end - position >= _HEAD:
            high, low, kind, flags, stream = _FRAME(data, position)
            position += _HEAD + (high << 8 | low)
            if kind == _RST_STREAM or (flags & _END_STREAM and kind <= _HEADERS):
                self._ended(stream)
        self._stop_at(data, position)
