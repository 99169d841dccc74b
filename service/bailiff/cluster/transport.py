"""Requests on the wire: sessions, credentials, deadlines, sizes, and failures made ours."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode

import aiohttp
from yarl import URL

import bailiff
from bailiff.cluster.connections import Connections
from bailiff.cluster.errors import (
    RequestTimeoutError,
    TooLongError,
    UnreachableError,
)
from bailiff.cluster.exchanges import Exchange, resource_of
from bailiff.cluster.sending import Sending, describe
from bailiff.cluster.spans import spanning
from bailiff.cluster.status import error_of
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from bailiff.cluster.credentials import Credentials
    from bailiff.cluster.exchanges import Observer
    from bailiff.cluster.login import Login
    from bailiff.cluster.pace import Pace
    from bailiff.cluster.request import Request
    from bailiff.cluster.settings import ClusterSettings
    from bailiff.tracing import Tracer

# Of a refusal only so much is read: Kubernetes' own are far smaller.
_MAX_REFUSAL_BYTES = 64 * 1024


class Stream:
    """An accepted answer that is still coming in. Close it, or use it as a context manager."""

    def __init__(self, request: Request, response: aiohttp.ClientResponse, idle: float) -> None:
        self._request = request
        self._response = response
        self._idle = idle

    async def read(self) -> bytes:
        """The bytes that have come in; waits for the first. b"" is the orderly end.

        Raises:
            RequestTimeoutError: nothing came for the idle time.
            UnreachableError: the connection broke.
        """
        with _translated(self._request, self._idle):
            return await _some(self._response)

    def close(self) -> None:
        """Hang up, without waiting for the other side to do the same.

        A TLS connection that is closed politely lives on until the server has answered, and
        nobody waits for it: it would outlive the client.
        """
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
        self._response.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Transport:
    """Sends requests to one API server over one bounded pool of connections.

    Args:
        credentials: the login, renewed by itself.
        settings: bounds.
        pace: when requests may go; None: at once.
        observers: told of every exchange.
        tracer: makes a span of each.
    """

    def __init__(
        self,
        credentials: Credentials,
        settings: ClusterSettings,
        pace: Pace | None = None,
        observers: Sequence[Observer] = (),
        tracer: Tracer = NO_TRACER,
    ) -> None:
        self._credentials = credentials
        self._settings = settings
        self._pace = pace
        self._observers = observers
        self._tracer = tracer
        self._connections = Connections(settings.max_connections)
        self._owns_login = True

    def beside(self, settings: ClusterSettings) -> Transport:
        """The same login over connections of its own, with other bounds and no pace.

        Close it before this one, which keeps the login fresh for both.
        """
        other = Transport(self._credentials, settings, None, self._observers, self._tracer)
        other._owns_login = False
        return other

    async def login(self) -> Login:
        """The present login.

        Raises:
            UnreachableError: closed.
        """
        return await self._credentials.current()

    def backoff(self) -> float:
        """Seconds from now for which nothing is sent; 0 if requests may go."""
        return self._pace.backoff() if self._pace else 0.0

    async def close(self) -> None:
        """Close all connections; requests under way fail with UnreachableError."""
        try:
            if self._owns_login:
                await self._credentials.close()
        finally:
            await self._connections.close()

    async def send(self, request: Request, within: float | None = None) -> bytes:
        """Send a request and give the body of its 2xx answer.

        Args:
            request: what to send.
            within: seconds for all of it, a renewed login and its retry included, but not the
                wait for its turn; the setting request_timeout where None.

        Raises:
            ClusterError: see bailiff.cluster.errors.
        """
        seconds = self._settings.request_timeout if within is None else within
        async with self._turn(request):
            with _translated(request, seconds):
                async with asyncio.timeout(seconds):
                    async with await self._accepted(request, None) as response:
                        return await self._body(request, response)

    async def open(self, request: Request) -> Stream:
        """Send a request whose answer has no end.

        Raises:
            ClusterError: not accepted, or not within the setting list_timeout.
        """
        start, idle = self._settings.list_timeout, self._settings.watch_idle_timeout
        async with self._turn(request):
            with _translated(request, start):
                async with asyncio.timeout(start):
                    return Stream(request, await self._accepted(request, idle), idle)

    def _turn(self, request: Request) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._pace is None else self._pace.turn(request.what)

    async def _accepted(self, request: Request, idle: float | None) -> aiohttp.ClientResponse:
        response = await self._answer(request, idle)
        if 200 <= response.status < 300:
            return response
        async with response:
            body = await response.content.read(_MAX_REFUSAL_BYTES)
            wait = response.headers.get("Retry-After")
            raise error_of(request.what, response.status, body, wait)

    async def _answer(self, request: Request, idle: float | None) -> aiohttp.ClientResponse:
        login = await self._credentials.current()
        try:
            response = await self._once(request, login, idle)
        except (UnreachableError, aiohttp.ClientError, OSError):
            await self._credentials.after_failure(login)
            raise
        if response.status != 401:
            return response
        try:
            renewed = await self._credentials.after_rejection(login)
        except BaseException:
            response.close()
            raise
        if renewed is None:
            return response
        response.close()
        return await self._once(request, renewed, idle)

    async def _once(
        self, request: Request, login: Login, idle: float | None
    ) -> aiohttp.ClientResponse:
        began = asyncio.get_running_loop().time()
        with spanning(self._tracer, request) as answered:
            try:
                response = await self._sent(request, login, idle)
            except (UnreachableError, aiohttp.ClientError, OSError, asyncio.CancelledError):
                # A time limit, ours or the caller's, arrives here as a cancellation.
                self._tell(request, began, 0, "")
                raise
            answered(response.status)
        self._tell(request, began, response.status, response.headers.get("Date", ""))
        return response

    def _tell(self, request: Request, began: float, code: int, date: str) -> None:
        seconds = asyncio.get_running_loop().time() - began
        exchange = Exchange(request.method, resource_of(request.path), code, seconds, date)
        for observer in self._observers:
            observer(exchange)

    async def _sent(
        self, request: Request, login: Login, idle: float | None
    ) -> aiohttp.ClientResponse:
        session = await self._connections.session(login)
        query = f"?{urlencode(request.query)}" if request.query else ""
        return await session.request(
            request.method,
            # Encoded already: a second quoting would turn %2F into another name.
            URL(f"{login.host}{request.path}{query}", encoded=True),
            data=request.body,
            headers=self._headers(request, login),
            # A redirect would carry the token elsewhere; the API server sends none.
            allow_redirects=False,
            proxy=login.proxy,
            server_hostname=login.tls.server_name,
            timeout=aiohttp.ClientTimeout(total=None, sock_read=idle),
            middlewares=(Sending(request, session),),
        )

    def _headers(self, request: Request, login: Login) -> dict[str, str]:
        headers = {
            "Accept": request.accept,
            "Accept-Encoding": "gzip" if self._settings.compression else "identity",
            "User-Agent": f"bailiff/{bailiff.__version__}",
        }
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        if login.authorization is not None:
            headers["Authorization"] = login.authorization
        headers.update(self._tracer.headers())
        return headers

    async def _body(self, request: Request, response: aiohttp.ClientResponse) -> bytes:
        bound = self._settings.max_response_bytes
        parts: list[bytes] = []
        size = 0
        while part := await _some(response):
            size += len(part)
            if size > bound:
                # The error's traceback holds this frame for as long as somebody keeps the error.
                parts.clear()
                raise TooLongError(f"{request.what}: the answer exceeds {bound} bytes")
            parts.append(part)
        return b"".join(parts)


async def _some(response: aiohttp.ClientResponse) -> bytes:
    """What has come in of a body; waits for the first. b"" is its end."""
    try:
        return await response.content.readany()
    except RuntimeError as error:
        # So aiohttp says of a connection that we closed ourselves a moment ago.
        raise aiohttp.ClientConnectionError("the connection was closed") from error


@contextmanager
def _translated(request: Request, seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        text = f"{request.what}: no answer within {seconds:g} s"
        raise RequestTimeoutError(text) from error
    except (aiohttp.ClientError, OSError) as error:
        raise UnreachableError(f"{request.what}: {describe(error)}") from error
