"""One deadline for all that an HTTP request without `await` waits for.

httpx bounds each wait by itself: who sends a byte now and then would hold a caller for as long as
it likes. So each is cut to what is left of the request's time.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import httpcore2
import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator

# By time.monotonic(); connections outlive requests and go from thread to thread.
_DEADLINE: ContextVar[float | None] = ContextVar("deadline of a request", default=None)
# A piece is written, or its time is up; each part of it that is taken begins the time anew.
_PIECE = 64 * 1024


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What this thread asks meanwhile by a client of `keep_deadlines` ends in so many seconds."""
    token = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


class Connections:
    """Of one client: who closes it leaves nobody waiting for bytes until their time is up."""

    def __init__(self) -> None:
        self._open: WeakSet[_Stream] = WeakSet()
        self._closed = False
        self._lock = threading.Lock()

    def add(self, stream: _Stream) -> _Stream:
        """One that was made just now, perhaps while another thread closed them all."""
        with self._lock:
            self._open.add(stream)
            closed = self._closed
        if closed:
            stream.shut()
        return stream

    def close(self) -> None:
        """Whoever reads finds that there is no more."""
        with self._lock:
            self._closed = True
            streams = list(self._open)
        for stream in streams:
            stream.shut()


def keep_deadlines(client: httpx2.Client, connections: Connections) -> httpx2.Client:
    """Have a client, and its proxies, keep to `within`, and its connections known."""
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
        if isinstance(transport, httpx2.HTTPTransport):
            # A pool takes one when it is made, and httpx makes it without.
            pool: Any = transport._pool  # noqa: SLF001
            backend = _Backend(pool._network_backend, connections)  # noqa: SLF001
            pool._network_backend = backend  # noqa: SLF001
    return client


def _left(timeout: float | None, late: type[Exception]) -> float | None:
    deadline = _DEADLINE.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise late("the answer came too slowly")
    return left if timeout is None else min(timeout, left)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, backend: httpcore2.NetworkBackend, connections: Connections) -> None:
        self._backend = backend
        self._connections = connections

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception = httpcore2.ConnectError(f"{host} has no address")
        more = local_address, socket_options
        for address in _addresses(host, port):
            left = _left(timeout, httpcore2.ConnectTimeout)
            try:
                stream = self._backend.connect_tcp(address, port, left, *more)
                return self._connections.add(_Stream(stream, self._connections))
            except httpcore2.ConnectError as error:
                failed = error
        raise failed


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error
    return [str(one[4][0]) for one in found]


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, connections: Connections) -> None:
        self._stream = stream
        self._connections = connections

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), _PIECE):
            left = _left(timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[begin : begin + _PIECE], left)

    def close(self) -> None:
        self._stream.close()

    def shut(self) -> None:
        """Nothing comes or goes any more; to close it is for who uses it."""
        # Not by the method of TLS' sockets, which would wait for a last message.
        with suppress(OSError):
            socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return self._connections.add(_Stream(stream, self._connections))

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as that of httpcore
        return self._stream.get_extra_info(info)
