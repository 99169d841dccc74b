"""As much of HTTP/2 as an attacker of a gRPC port needs (RFC 9113, RFC 7541 without Huffman)."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections import defaultdict

from bailiff.grpc_api.frames import PREFACE
from tests.harness.faces.http2 import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    PING,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
)

GOAWAY = 7
INITIAL_WINDOW = 65_535
_FRAME = 16_384


def settings(window: int = INITIAL_WINDOW) -> bytes:
    """The client's settings: how many bytes of each stream it takes before it has read them."""
    return frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, window))


def _text(value: bytes) -> bytes:
    length = len(value)
    if length < 127:
        return bytes([length]) + value
    rest, octets = length - 127, bytearray([127])
    while rest >= 128:
        octets.append(rest % 128 + 128)
        rest //= 128
    return bytes(octets) + bytes([rest]) + value


def head(path: str, *more: tuple[bytes, bytes]) -> bytes:
    """The block of headers that begins a call of gRPC."""
    fields = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path.encode()),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        *more,
    ]
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields)


class Connection:
    """A connection that sends what it is told and minds no more than flow control.

    Attributes:
        refused: streams that the server has ended, by RST_STREAM or by trailers.
        answered: streams on which a message has come.
        gone: the server has said GOAWAY, or hung up.
        hung_up: the latter.
        last: the highest stream that the server will answer, as its last GOAWAY says.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, takes_answers: bool
    ) -> None:
        self._reader, self._writer = reader, writer
        self._takes_answers = takes_answers
        self._left, self._initial = INITIAL_WINDOW, INITIAL_WINDOW
        self._streams: dict[int, int] = defaultdict(lambda: self._initial)
        self._more = asyncio.Event()
        self._next = 1
        self.refused: set[int] = set()
        self.answered: set[int] = set()
        self.gone = self.hung_up = False
        self.last = 2**31 - 1
        self._reading = asyncio.create_task(self._read())

    def open(self, path: str, *more: tuple[bytes, bytes], end: bool = False) -> int:
        """Begin a call; its stream."""
        stream, self._next = self._next, self._next + 2
        flags = END_HEADERS | (END_STREAM if end else 0)
        self.write(frame(HEADERS, flags, stream, head(path, *more)))
        return stream

    def write(self, data: bytes) -> None:
        """Send some bytes as they are."""
        if not self._writer.transport.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Until the server has taken the most of what was written."""
        await self._writer.drain()

    async def send(self, stream: int, data: bytes, *, end: bool = False) -> int:
        """Send data of a call, as fast as the server takes it; how many bytes it took."""
        sent = 0
        while sent < len(data) and not self.gone and stream not in self.refused:
            room = min(self._left, self._streams[stream], _FRAME, len(data) - sent)
            if room <= 0:
                self._more.clear()
                await self._more.wait()
                continue
            last = end and sent + room == len(data)
            self.write(frame(DATA, END_STREAM * last, stream, data[sent : sent + room]))
            self._left -= room
            self._streams[stream] -= room
            sent += room
            await self._writer.drain()
        return sent

    def close(self) -> None:
        """Hang up."""
        self._reading.cancel()
        self._writer.transport.abort()

    async def _read(self) -> None:
        try:
            while True:
                start = await self._reader.readexactly(9)
                length = int.from_bytes(start[:3], "big")
                stream = int.from_bytes(start[5:], "big") & 0x7FFFFFFF
                self._take(start[3], start[4], stream, await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError):
            self.gone = self.hung_up = True
            self._more.set()

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            self._take_settings(payload)
        elif kind == PING and not flags & ACK:
            self.write(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self._take_window(stream, int.from_bytes(payload, "big"))
        elif kind == GOAWAY:
            self.gone = True
            self.last = int.from_bytes(payload[:4], "big") & 0x7FFFFFFF
        elif kind == DATA and payload:
            self._read_of(stream, len(payload))
        elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
            self.refused.add(stream)
        self._more.set()

    def _read_of(self, stream: int, length: int) -> None:
        self.answered.add(stream)
        if self._takes_answers:
            self.write(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", length)))

    async def ended(self, stream: int) -> bool:
        """Wait for a call's end; whether a message came before it.

        Raises:
            ConnectionError: the server hangs up before.
        """
        while stream not in self.refused and stream <= self.last:
            if self.hung_up:
                raise ConnectionResetError("hung up in the middle of a call")
            self._more.clear()
            await self._more.wait()
        return stream in self.answered

    def _take_settings(self, payload: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", payload):
            if name == INITIAL_WINDOW_SIZE:
                for stream in self._streams:
                    self._streams[stream] += value - self._initial
                self._initial = value
        self.write(frame(SETTINGS, ACK, 0))

    def _take_window(self, stream: int, more: int) -> None:
        if stream:
            self._streams[stream] += more
        else:
            self._left += more


async def connect(
    port: int, source: str, window: int = INITIAL_WINDOW, tls: ssl.SSLContext | None = None
) -> Connection:
    """A connection from an address of this machine.

    Raises:
        OSError: it is refused.
    """
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, local_addr=(source, 0), ssl=tls
    )
    writer.write(PREFACE + settings(window))
    return Connection(reader, writer, takes_answers=window > 0)
