"""uvicorn inside the running event loop, which the gRPC face shares."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from typing import TYPE_CHECKING

import uvicorn

from bailiff.rest.protocol import bounded_protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.rest.app import RestApp
    from bailiff.rest.settings import RestSettings

# uvicorn looks every 0.1 s whether it should stop; this is its time to notice and to close.
_NOTICE_SECONDS = 2.0


class RestServer:
    """Owns the listening socket and the task that serves it."""

    def __init__(self, app: RestApp, settings: RestSettings) -> None:
        """Prepare; nothing is bound yet."""
        self._app = app
        self._settings = settings
        self._server = _Server(_config(app, settings))
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> int:
        """Listen; returns the port once requests are answered.

        Raises:
            OSError: the address cannot be listened on.
        """
        listener = _listen(self._settings)
        port: int = listener.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[listener]), name="rest")
        ready = asyncio.create_task(self._server.ready.wait(), name="rest-ready")
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
        """Say so on /readyz, take no new connections, finish what is being answered.

        Args:
            grace: seconds for that; requests that take longer are cut.
        """
        self._app.readiness.stopping = True
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


def _config(app: RestApp, settings: RestSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=bounded_protocol(settings),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.keep_alive_seconds,
    )


def _listen(settings: RestSettings) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
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
