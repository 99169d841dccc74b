"""What a Cluster sends by, in a tenth of the memory that aiohttp takes.

See bailiff.cluster.wire for the port. It knows HTTP/1.1 alone, no proxies, no redirects and no
compression, which an API server does without. A write is sent once, and never repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from bailiff.agent.api.answers import Incoming, NoHttpError
from bailiff.agent.api.connection import Connection
from bailiff.agent.api.heads import head_of
from bailiff.cluster.errors import (
    ConfigError,
    FencedError,
    RequestTimeoutError,
    ResponseError,
    TooLongError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster.spans import spanning
from bailiff.cluster.status import error_of
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from bailiff.cluster.credentials import Credentials
    from bailiff.cluster.login import Login
    from bailiff.cluster.request import Request
    from bailiff.cluster.settings import ClusterSettings
    from bailiff.cluster.tls import Tls
    from bailiff.tracing import Tracer

_MAX_REFUSAL_BYTES = 64 * 1024
# Connections that are kept for the next request: an agent sends one or two at a time.
_KEPT = 2


class Inflow:
    """An answer that has no end, as a watch; see bailiff.cluster.wire."""

    def __init__(
        self, request: Request, connection: Connection, answer: Incoming, idle: float
    ) -> None:
        self._request = request
        self._connection = connection
        self._answer = answer
        self._idle = idle

    async def read(self) -> bytes:
        """See the port."""
        with _translated(self._request, self._idle):
            async with asyncio.timeout(self._idle):
                while not (part := self._answer.take()) and not self._answer.complete:
                    await self._connection.more(self._answer)
        return part

    def close(self) -> None:
        """See the port."""
        self._connection.close()
        self._answer.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class LeanWire:
    """Sends requests to one server; used by one event loop, by any number of its tasks.

    Args:
        credentials: the login, renewed by itself; closed with this.
        settings: bounds.
        tracer: makes a span of each request that is sent within another.
    """

    def __init__(
        self, credentials: Credentials, settings: ClusterSettings, tracer: Tracer = NO_TRACER
    ) -> None:
        self._credentials = credentials
        self._tracer = tracer
        self._settings = settings
        self._kept: list[Connection] = []
        self._tls: Tls | None = None
        self._context: ssl.SSLContext | None = None
        self._closed = False

    async def login(self) -> Login:
        """See the port."""
        return await self._credentials.current()

    def beside(self, settings: ClusterSettings) -> LeanWire:
        """See the port."""
        return LeanWire(self._credentials, settings, self._tracer)

    def backoff(self) -> float:
        """See the port; an agent sends too little to be asked to send less."""
        return 0.0

    async def close(self) -> None:
        """See the port."""
        self._closed = True
        self._drop_kept()
        await self._credentials.close()

    async def send(self, request: Request, within: float | None = None) -> bytes:
        """See the port."""
        seconds = self._settings.request_timeout if within is None else within
        with _translated(request, seconds):
            async with asyncio.timeout(seconds) as patience:
                connection, answer = await self._accepted(request, patience)
                try:
                    body = await self._whole(request, connection, answer)
                except BaseException:
                    connection.close()
                    raise
                finally:
                    answer.end()
                self._keep(connection, answer)
                return body

    async def open(self, request: Request) -> Inflow:
        """See the port."""
        with _translated(request, self._settings.list_timeout):
            async with asyncio.timeout(self._settings.list_timeout) as patience:
                connection, answer = await self._accepted(request, patience)
        return Inflow(request, connection, answer, self._settings.watch_idle_timeout)

    async def _accepted(
        self, request: Request, patience: asyncio.Timeout
    ) -> tuple[Connection, Incoming]:
        """The answer to a request that was taken; raises what a refusal means."""
        if self._closed:
            raise UnreachableError("the client is closed")
        login = await self._credentials.current()
        try:
            return await self._taken(request, login, patience)
        except UnauthorizedError:
            renewed = await self._credentials.after_rejection(login)
            if renewed is None:
                raise
        return await self._taken(request, renewed, patience)

    async def _taken(
        self, request: Request, login: Login, patience: asyncio.Timeout
    ) -> tuple[Connection, Incoming]:
        with spanning(self._tracer, request) as answered:
            connection, answer = await self._asked(request, login, patience)
            answered(answer.status)
        if 200 <= answer.status < 300:
            return connection, answer
        try:
            body = await _beginning(connection, answer)
        finally:
            connection.close()
            answer.end()
        raise error_of(request.what, answer.status, body, answer.retry_after)

    async def _asked(
        self, request: Request, login: Login, patience: asyncio.Timeout
    ) -> tuple[Connection, Incoming]:
        head = head_of(request, login, self._tracer.headers())
        kept = self._kept_for(login)
        if kept is not None:
            try:
                return await _begun(kept, request, head)
            except asyncio.CancelledError:
                if not patience.expired():
                    raise
                # What stands between has forgotten it, which says nothing of the server.
                self._drop_kept()
                raise ConnectionResetError("a connection that was kept is silent") from None
            except ConnectionError:
                # The server may have closed it since, and the others that are kept as well.
                self._drop_kept()
                # It may also have carried a write out.
                if request.method != "GET":
                    raise
        return await _begun(await self._fresh(login), request, head)

    def _kept_for(self, login: Login) -> Connection | None:
        """A connection that nobody uses, of those that were made with this login's certificates."""
        if login.tls != self._tls:
            self._tls, self._context = login.tls, login.tls.context()
            self._drop_kept()
        while self._kept:
            kept = self._kept.pop()
            if kept.is_usable:
                return kept
            kept.close()
        return None

    async def _fresh(self, login: Login) -> Connection:
        try:
            return await self._opened(login)
        except OSError:
            await self._credentials.after_failure(login)
            raise

    async def _opened(self, login: Login) -> Connection:
        if login.proxy is not None:
            raise ConfigError("the agent asks the API server straight: it goes by no proxy")
        server = urlsplit(login.host)
        secure = server.scheme == "https"
        host = server.hostname or ""
        return await Connection.opened(
            host,
            server.port or (443 if secure else 80),
            self._context if secure else None,
            (login.tls.server_name or host) if secure else None,
        )

    async def _whole(self, request: Request, connection: Connection, answer: Incoming) -> bytes:
        bound, parts, size = self._settings.max_response_bytes, list[bytes](), 0
        while True:
            part = answer.take()
            parts.append(part)
            size += len(part)
            if size > bound:
                # The error's traceback holds this frame for as long as somebody keeps the error.
                parts.clear()
                raise TooLongError(f"{request.what}: the answer exceeds {bound} bytes")
            if answer.complete:
                return b"".join(parts)
            await connection.more(answer)

    def _keep(self, connection: Connection, answer: Incoming) -> None:
        if answer.stays_open and len(self._kept) < _KEPT:
            connection.rest()
            self._kept.append(connection)
        else:
            connection.close()

    def _drop_kept(self) -> None:
        for one in self._kept:
            one.close()
        self._kept.clear()


async def _begun(
    connection: Connection, request: Request, head: bytes
) -> tuple[Connection, Incoming]:
    """Send a request over this connection; it is closed where that fails."""
    if request.allowed is not None and not request.allowed():
        connection.close()
        raise FencedError(f"{request.what}: not sent, another process leads")
    try:
        return connection, await connection.begin(head, request.body)
    except BaseException:
        connection.close()
        raise


async def _beginning(connection: Connection, answer: Incoming) -> bytes:
    """Of a refusal as much as anybody reads."""
    body = answer.take()
    with contextlib.suppress(ConnectionError):
        while not answer.complete and len(body) < _MAX_REFUSAL_BYTES:
            await connection.more(answer)
            body += answer.take()
    return body[:_MAX_REFUSAL_BYTES]


@contextmanager
def _translated(request: Request, seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        text = f"{request.what}: no answer within {seconds:g} s"
        raise RequestTimeoutError(text) from error
    except NoHttpError as error:
        raise ResponseError(f"{request.what}: {error}") from error
    except OSError as error:
        text = error.strerror or str(error) or type(error).__name__
        raise UnreachableError(f"{request.what}: {text}") from error
    except ValueError as error:
        # A port above 65535, or a host that no name can be: they are looked at here first.
        raise ConfigError(f"{request.what}: the server's address is none: {error}") from error
