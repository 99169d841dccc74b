"""One deadline for all that an HTTP request without `await` waits for.

httpx bounds each wait by itself: who sends a byte now and then would hold a caller for as long as
it likes. So each is cut to what is left of the request's time.
"""

from __future__ import annotations

import socket
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

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


def keep_deadlines(client: httpx2.Client) -> httpx2.Client:
    """Have a client, and its proxies, keep to `within`."""
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
        if isinstance(transport, httpx2.HTTPTransport):
            # A pool takes one when it is made, and httpx makes it without.
            pool: Any = transport._pool  # noqa: SLF001
            pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001
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
    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

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
                return _Stream(self._backend.connect_tcp(address, port, left, *more))
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
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), _PIECE):
            left = _left(timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[begin : begin + _PIECE], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as that of httpcore
        return self._stream.get_extra_info(info)
