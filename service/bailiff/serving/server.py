"""uvicorn inside a running event loop: how every HTTP port of this process is opened and closed."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from typing import TYPE_CHECKING, Any

import uvicorn

from bailiff.serving.protocol import BOUNDS, bounded_protocol, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from bailiff.serving.protocol import Bounds, Refuse

# uvicorn looks every 0.1 s whether it should stop; this is its time to notice and to close.
_NOTICE_SECONDS = 2.0


class HttpServer:
    """Owns a listening socket and the task that serves an ASGI application on it."""

    def __init__(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        bounds: Bounds = BOUNDS,
        refuse: Refuse = in_words,
        **config: Any,  # noqa: ANN401 - as many types as uvicorn has settings
    ) -> None:
        """Prepare; nothing is bound yet.

        Args:
            app: an ASGI application.
            host: address to listen on.
            port: TCP port; 0 takes a free one.
            bounds: what it bears before there is a request.
            refuse: how it says so where that is too much.
            config: further settings of uvicorn.Config.
        """
        self._address = (host, port)
        self._server = _Server(
            uvicorn.Config(
                app,
                http=bounded_protocol(bounds, refuse),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                **config,
            )
        )
        self._task: asyncio.Task[None] | None = None

    @property
    def connections(self) -> set[Any]:
        """Uvicorn's open connections, as protocols."""
        return self._server.server_state.connections

    async def start(self) -> int:
        """Listen; returns the port once requests are answered.

        Raises:
            OSError: the address cannot be listened on.
        """
        listener = _listen(*self._address)
        port: int = listener.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[listener]), name="http")
        ready = asyncio.create_task(self._server.ready.wait(), name="http-ready")
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._task.done():
            await self._task
        return port

    async def wait(self) -> None:
        """Until the server has ended; raises what ended it."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def stop(self, grace: float) -> None:
        """Take no new connections, finish what is being answered.

        Args:
            grace: seconds for that, rounded up to whole ones; requests that take longer are cut.
        """
        if self._task is None:
            return
        # uvicorn takes whole seconds on its command line, and hands this to asyncio.wait_for.
        self._server.config.timeout_graceful_shutdown = math.ceil(grace)
        self._server.should_exit = True
        try:
            async with asyncio.timeout(math.ceil(grace) + _NOTICE_SECONDS):
                await self._task
        except TimeoutError:
            self._server.force_exit = True


class _Server(uvicorn.Server):
    """uvicorn's server without its signal handlers: the bootstrap owns the signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
