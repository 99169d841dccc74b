"""A container runtime that says what a test wants, over a unix socket, or without one."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded
from hyperframe.frame import GoAwayFrame

from bailiff.agent.cri.calls import _Exchange

HEAD = [(":status", "200"), ("content-type", "application/grpc")]
# Bytes of an answer, in calls that `begun` begins.
MOST = 1000
# Of the only call that a connection carries.
STREAM = 1
_READ_AT_ONCE = 64 * 1024
_FRAME = 2**14


def framed(message: bytes) -> bytes:
    """As gRPC puts a message before it is cut into frames."""
    return struct.pack(">BI", 0, len(message)) + message


def goaway(last_stream: int, code: int = 0) -> bytes:
    """One that leaves the state of a server as it is: a runtime says more after it."""
    return GoAwayFrame(0, last_stream_id=last_stream, error_code=code).serialize()


class Served:
    """The runtime's side of one call, without I/O.

    Attributes:
        h2: of the runtime.
        path: of the method that was asked.
        request: the bytes of it that have come.
        asked: the whole request is there.
        events: all that have come.
    """

    def __init__(self) -> None:
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.path = ""
        self.headers: dict[str, str] = {}
        self.request = b""
        self.asked = False
        self.events: list[Event] = []

    def take(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            self.events.append(event)
            match event:
                case RequestReceived(headers=headers):
                    self.headers = {str(name): str(value) for name, value in headers or ()}
                    self.path = self.headers[":path"]
                case DataReceived(data=data):
                    self.request += data or b""
                case StreamEnded():
                    self.asked = True

    def head(self, *more: tuple[str, str], end: bool = False) -> Served:
        self.h2.send_headers(STREAM, [*HEAD, *more], end_stream=end)
        return self

    def data(self, data: bytes) -> Served:
        """As much as the client has room for; see Connection.pour for more."""
        for at in range(0, len(data), _FRAME):
            self.h2.send_data(STREAM, data[at : at + _FRAME])
        return self

    def trailers(self, code: str = "0", said: str = "") -> Served:
        more = [("grpc-message", said)] if said else []
        self.h2.send_headers(STREAM, [("grpc-status", code), *more], end_stream=True)
        return self

    def whole(self, message: bytes) -> Served:
        return self.head().data(framed(message)).trailers()

    def out(self) -> bytes:
        return self.h2.data_to_send()


def begun() -> tuple[_Exchange, Served]:
    """A call that was sent, and who is to answer it."""
    own, served = _Exchange("/runtime.v1.RuntimeService/Version", MOST), Served()
    served.take(own.begin(b"asked"))
    return own, served


class Connection(Served):
    """The same with a socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__()
        self.reader = reader
        self.writer = writer

    async def hear(self) -> None:
        """Until something comes."""
        data = await self.reader.read(_READ_AT_ONCE)
        if not data:
            raise EOFError
        self.take(data)

    async def flush(self) -> None:
        self.writer.write(self.out())
        await self.writer.drain()

    async def pour(self, data: bytes) -> None:
        """As fast as the client makes room."""
        at = 0
        while at < len(data):
            room = min(self.h2.local_flow_control_window(STREAM), _FRAME)
            if room:
                self.data(data[at : at + room])
                at += room
            await (self.flush() if room else self.hear())


Answer = Callable[[Connection], Awaitable[None]]


class FakeRuntime:
    """What it has met.

    Attributes:
        socket: where it listens.
        paths: of all calls.
        requests: of all calls, without their frames.
        at_once: how many connections there were at the same time, at most.
    """

    def __init__(self, socket: str, answers: Iterable[Answer]) -> None:
        self.socket = socket
        self.paths: list[str] = []
        self.requests: list[bytes] = []
        self.at_once = 0
        self._now = 0
        self._answers = list(answers)
        self._tasks: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.create_task(self._serve(reader, writer)))

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Each call gets the next answer, and all that come later the last."""
        self._now += 1
        self.at_once = max(self.at_once, self._now)
        try:
            await self._one(Connection(reader, writer))
        except (EOFError, ConnectionError):
            pass  # the client has hung up
        finally:
            self._now -= 1
            writer.transport.abort()

    async def _one(self, one: Connection) -> None:
        while not one.asked:
            await one.hear()
        self.paths.append(one.path)
        self.requests.append(one.request[5:])
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await answer(one)
        await one.flush()
        # The client hangs up.
        while True:
            await one.hear()


@contextlib.asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[FakeRuntime]:
    """On a socket of its own."""
    with tempfile.TemporaryDirectory(prefix="cri-") as folder:
        own = FakeRuntime(str(Path(folder) / "s"), answers)
        server = await asyncio.start_unix_server(own.accept, own.socket)
        try:
            yield own
        finally:
            server.close()
            await own.end()
