"""One call of gRPC over a unix socket: a connection of its own, closed when it is answered.

Source: gRPC over HTTP/2 (doc/PROTOCOL-HTTP2.md of grpc/grpc), RFC 9113. h2 knows HTTP/2; grpcio
would take half of the memory that the agent has. A connection costs a local socket a fraction of a
millisecond, and the agent calls some dozen times in five minutes. So nothing is shared between
calls: one that hangs holds up no other, and a runtime that was started anew is simply asked again.
"""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings

from bailiff.agent.cri.errors import (
    CriMalformedError,
    CriStatusError,
    CriTimeoutError,
    CriTooLongError,
    CriUnreachableError,
)
from bailiff.agent.cri.frames import Frames, goaway_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.agent.cri.frames import GoAway

_READ_AT_ONCE = 64 * 1024
_WINDOW = 2**20
# Compressed or not, and the length of the message.
_PREFIX = struct.Struct(">BI")
_OK = 0
_ENDS_WELL = (ErrorCodes.NO_ERROR, ErrorCodes.CANCEL)
# Those of gRPC have two; Python refuses to read a number of thousands.
_MAX_CODE_DIGITS = 9
_SETTINGS = {
    SettingCodes.ENABLE_PUSH: 0,
    SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
    SettingCodes.MAX_HEADER_LIST_SIZE: H2Connection.DEFAULT_MAX_HEADER_LIST_SIZE,
}


class Bounds(NamedTuple):
    """Of one call.

    Attributes:
        seconds: from the connection to the last byte.
        answer_bytes: of the message of the answer.
    """

    seconds: float = 10.0
    answer_bytes: int = 16 * 2**20


async def call(socket: str, method: str, request: bytes, bounds: Bounds) -> bytes:
    """Ask, and give the message of the answer.

    Args:
        socket: path of the socket.
        method: as `/runtime.v1.ImageService/ListImages`.
        request: the message, some KiB at most.
        bounds: of this call.

    Raises:
        CriError: see bailiff.agent.cri.errors.
    """
    name = method.rpartition("/")[2]
    try:
        async with asyncio.timeout(bounds.seconds):
            return await _called(socket, method, request, bounds.answer_bytes)
    except TimeoutError as error:
        raise CriTimeoutError(f"{name}: no answer within {bounds.seconds:g} s") from error
    except (OSError, EOFError) as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise CriUnreachableError(f"{name}: {socket}: {said}") from error
    except (H2Error, UnicodeDecodeError) as error:
        raise CriMalformedError(f"{name}: the answer is no HTTP/2: {error}") from error


async def _called(socket: str, method: str, request: bytes, most: int) -> bytes:
    reader, writer = await asyncio.open_unix_connection(socket)
    try:
        exchange = _Exchange(method, most)
        writer.write(exchange.begin(request))
        while not exchange.ended:
            data = await reader.read(_READ_AT_ONCE)
            if not data:
                raise EOFError("the connection ended before the answer did")
            writer.write(exchange.take(data))
            await writer.drain()
        return exchange.answer()
    finally:
        writer.transport.abort()


class _Exchange:
    """One stream of one connection, without I/O."""

    def __init__(self, method: str, most: int) -> None:
        self._method = method
        self._most = most
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        # What is set before the beginning holds from the beginning, not when it is acknowledged.
        self._h2.local_settings = Settings(client=True, initial_values=_SETTINGS)
        self._stream = self._h2.get_next_available_stream_id()
        self._frames = Frames()
        self._body = bytearray()
        self._headers: dict[str, str] = {}
        self.ended = False

    def begin(self, request: bytes) -> bytes:
        """What is to be sent first."""
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_WINDOW)
        self._h2.send_headers(self._stream, self._head())
        self._h2.send_data(self._stream, _PREFIX.pack(0, len(request)) + request, end_stream=True)
        return self._h2.data_to_send()

    def take(self, data: bytes) -> bytes:
        """Take in what has come; what is to be sent then."""
        for frame in self._frames.cut(data):
            if self.ended:
                break
            away = goaway_in(frame)
            if away is None:
                self._on(self._h2.receive_data(frame))
            else:
                self._on_goaway(away)
        return self._h2.data_to_send()

    def answer(self) -> bytes:
        """The message of the answer.

        Raises:
            CriError: there is none.
        """
        name = self._method.rpartition("/")[2]
        code = self._headers.get("grpc-status", "")
        if not (code.isascii() and code.isdigit() and len(code) <= _MAX_CODE_DIGITS):
            status = self._headers.get(":status", "none")
            raise CriMalformedError(f"{name}: the answer is no gRPC: HTTP status {status[:10]}")
        if int(code) != _OK:
            raise CriStatusError(name, int(code), unquote(self._headers.get("grpc-message", "")))
        return _message_in(self._body, name)

    def _head(self) -> list[tuple[str, str]]:
        return [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", self._method),
            # As gRPC names a unix socket; containerd refuses a path there.
            (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", "bailiff"),
        ]

    def _on(self, events: Iterable[Event]) -> None:
        for event in events:
            if getattr(event, "stream_id", self._stream) != self._stream:
                continue
            match event:
                case ResponseReceived(headers=headers) | TrailersReceived(headers=headers):
                    self._headers |= {str(key): str(value) for key, value in headers or ()}
                case DataReceived():
                    self._on_data(event)
                case StreamEnded():
                    self.ended = True
                case StreamReset(error_code=code):
                    self._on_reset(code)

    def _on_data(self, event: DataReceived) -> None:
        self._body += event.data or b""
        if self._is_too_long():
            name = self._method.rpartition("/")[2]
            raise CriTooLongError(f"{name}: the answer exceeds {self._most} bytes")
        if event.flow_controlled_length:
            self._h2.acknowledge_received_data(event.flow_controlled_length, self._stream)

    def _is_too_long(self) -> bool:
        """By what has come, or by what it says of itself if it is gRPC at all."""
        if len(self._body) < _PREFIX.size:
            return False
        compressed, length = _PREFIX.unpack_from(self._body)
        has_come = len(self._body) - _PREFIX.size
        return max(has_come, length if compressed <= 1 else 0) > self._most

    def _on_reset(self, code: int | None) -> None:
        """The server may end the stream early once it has said everything."""
        if "grpc-status" not in self._headers or code not in _ENDS_WELL:
            raise ConnectionResetError(f"the runtime ended the call with error {code}")
        self.ended = True

    def _on_goaway(self, away: GoAway) -> None:
        """One that ends in peace answers first what it has taken."""
        if away.code != ErrorCodes.NO_ERROR:
            raise ConnectionResetError(f"the runtime ended the connection with error {away.code}")
        if away.last_stream < self._stream:
            raise ConnectionResetError("the runtime is going away, and has not taken the call")


def _message_in(body: bytearray, name: str) -> bytes:
    if len(body) < _PREFIX.size:
        raise CriMalformedError(f"{name}: the answer has no message")
    compressed, length = _PREFIX.unpack_from(body)
    if compressed or length != len(body) - _PREFIX.size:
        raise CriMalformedError(f"{name}: the answer is not one message")
    return bytes(memoryview(body)[_PREFIX.size :])
