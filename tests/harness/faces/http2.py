"""A client that speaks HTTP/2 frame by frame, and stops where it is told."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING, Self

from bailiff.grpc_api.frames import PREFACE

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
_WINDOW = 65_535
_MAX_FRAME = 16_384


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame (RFC 9113, section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def message(data: bytes) -> bytes:
    """A message as gRPC sends it, not compressed."""
    return b"\0" + struct.pack(">I", len(data)) + data


def head(path: bytes, more: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """The headers of a call, each literally (RFC 7541, section 6.2.2)."""
    fields = (
        *((b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"x")),
        *((b"te", b"trailers"), (b"content-type", b"application/grpc"), *more),
    )
    return b"".join(
        b"\0" + bytes((len(name),)) + name + bytes((len(value),)) + value for name, value in fields
    )


class Http2Client:
    """One connection.

    Attributes:
        ended: streams that the server has ended.
        answers: bytes of DATA that came, by stream.
        closed: set once the server has closed the connection.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Prepare; `connect` is what callers use."""
        self._reader, self._writer = reader, writer
        self._window = self._initial = _WINDOW
        self._windows: dict[int, int] = {}
        self._changed = asyncio.Event()
        self._reading = asyncio.create_task(self._read())
        self._next = 1
        self.ended: set[int] = set()
        self.answers: dict[int, int] = {}
        self.closed = asyncio.Event()

    @classmethod
    async def connect(cls, port: int, *, window: int = _WINDOW, address: str = "127.0.0.1") -> Self:
        """Connect and greet; `window` is what the server may send in a stream."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        settings = struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        writer.write(PREFACE + frame(SETTINGS, 0, 0, settings))
        return cls(reader, writer)

    def call(self, path: str | bytes, more: Iterable[tuple[bytes, bytes]] = ()) -> int:
        """Begin a call; its stream."""
        stream, self._next = self._next, self._next + 2
        self._windows[stream] = self._initial
        encoded = path.encode() if isinstance(path, str) else path
        self._writer.write(frame(HEADERS, END_HEADERS, stream, head(encoded, more)))
        return stream

    def reset(self, stream: int) -> None:
        """Give a call up."""
        self._writer.write(frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))

    async def send(self, stream: int, data: bytes, *, end: bool = False) -> None:
        """Send DATA as fast as the server takes it, until the stream has ended."""
        while data and stream not in self.ended and not self.closed.is_set():
            size = min(_MAX_FRAME, self._window, self._windows[stream], len(data))
            if size <= 0:
                self._changed.clear()
                await self._changed.wait()
                continue
            self._writer.write(frame(DATA, 0, stream, data[:size]))
            self._window -= size
            self._windows[stream] -= size
            data = data[size:]
            await asyncio.sleep(0)
        if end:
            self._writer.write(frame(DATA, END_STREAM, stream))

    def widen(self, window: int) -> None:
        """From here on the server may send so many bytes in each stream."""
        settings = struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        self._writer.write(frame(SETTINGS, 0, 0, settings))

    async def end_of(self, stream: int) -> None:
        """Wait until the server has ended a stream, or the connection."""
        while stream not in self.ended and not self.closed.is_set():
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        """Hang up."""
        self._reading.cancel()
        self._writer.close()

    async def _read(self) -> None:
        try:
            while True:
                await self._read_frame()
                self._changed.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
            self._changed.set()

    async def _read_frame(self) -> None:
        length, kind, flags, stream = _head(await self._reader.readexactly(9))
        payload = await self._reader.readexactly(length)
        if kind == SETTINGS and not flags & ACK:
            self._set(payload)
        elif kind == PING and not flags & ACK:
            self._writer.write(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self._widen(stream, int.from_bytes(payload, "big"))
        elif kind == DATA:
            self.answers[stream] = self.answers.get(stream, 0) + length
        if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
            self.ended.add(stream)

    def _set(self, payload: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", payload):
            if name == INITIAL_WINDOW_SIZE:
                for stream in self._windows:
                    self._windows[stream] += value - self._initial
                self._initial = value
        self._writer.write(frame(SETTINGS, ACK, 0))

    def _widen(self, stream: int, by: int) -> None:
        if stream == 0:
            self._window += by
        elif stream in self._windows:
            self._windows[stream] += by


def _head(data: bytes) -> tuple[int, int, int, int]:
    kind, flags, stream = struct.unpack(">BBI", data[3:])
    return int.from_bytes(data[:3], "big"), kind, flags, stream & 0x7FFFFFFF
