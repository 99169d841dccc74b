"""uvicorn inside a running event loop: how every HTTP port of this process is opened and closed."""

from __future__ import annotations

import asyncio
import contextlib
import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn

from bailiff.serving.admission import Admission
from bailiff.serving.bounds import BOUNDS, in_words
from bailiff.serving.edge import Edge
from bailiff.serving.listener import Listener
from bailiff.serving.listening import bound_socket
from bailiff.serving.peers import knowing_peer
from bailiff.serving.places import Places
from bailiff.serving.protocol import bounded_protocol
from bailiff.serving.settings import EdgeSettings

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Collection, Iterator
    from ssl import SSLContext

    from starlette.types import ASGIApp

    from bailiff.serving.bounds import Bounds, Refuse
    from bailiff.serving.byte_budget import ByteBudget
    from bailiff.serving.places import Place
    from bailiff.serving.protocol import BoundedProtocol
    from bailiff.serving.tls import ServingTls, TlsInForce

# Makes the protocol of a connection, given the place that it holds.
_MakeProtocol: TypeAlias = "Callable[[Place], BoundedProtocol]"
_Listen: TypeAlias = "Callable[[socket.socket, _MakeProtocol], Listener]"
# The context of a port, of those that are in force.
Choose: TypeAlias = "Callable[[TlsInForce], SSLContext]"
# Connections that wait in the kernel until they are taken; it takes no more than
# net.core.somaxconn. One that finds no place there tries again after a second.
_BACKLOG = 8192
# Seconds for what those have sent to be read who were let in last.
_LAST_LOOK_SECONDS = 0.05
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
        *,
        edge: Edge | None = None,
        tls: ServingTls | None = None,
        choose: Choose = attrgetter("http"),
        never_late: Collection[str] = (),
        **config: Any,  # noqa: ANN401 - as many types as uvicorn has settings
    ) -> None:
        """Prepare; nothing is bound yet.

        Args:
            app: an ASGI application.
            host: address to listen on.
            port: TCP port; 0 takes a free one.
            bounds: what it bears.
            refuse: how it says so where that is too much.
            edge: what it shares with the other ports of the process; None: one of its own, as the
                environment has it.
            tls: what its connections speak, which may change; None: no TLS.
            choose: which of its contexts.
            never_late: paths that are answered however long they have waited for their turn.
            config: further settings of uvicorn.Config.

        Raises:
            SettingsError: the environment has a value that cannot be, and no edge is given.
        """
        edge = edge or Edge.of(EdgeSettings.read())
        self._address, self._edge = (host, port), edge
        protocol = bounded_protocol(bounds, refuse, edge)
        self._server = _Server(
            uvicorn.Config(
                Admission(app, bounds, refuse, edge, host, never_late),
                http=protocol if tls is None else knowing_peer(protocol),
                interface="asgi3",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                **{"backlog": _BACKLOG, **config},
            ),
            _listening(bounds, refuse, edge, _context(tls, choose)),
        )
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """As it was asked for; 0: any free one."""
        return self._address[1]

    @property
    def budget(self) -> ByteBudget:
        """Of the bytes that its clients make the process hold."""
        return self._edge.budget

    @property
    def connections(self) -> set[Any]:
        """Uvicorn's open connections, as protocols."""
        return self._server.server_state.connections

    async def start(self) -> int:
        """Listen; returns the port once requests are answered.

        Raises:
            OSError: the address cannot be listened on.
        """
        listener = bound_socket(*self._address)
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

    async def until(self, stop: asyncio.Event) -> None:
        """Until told to stop, or until the server has ended; raises what ended it."""
        stopping = asyncio.create_task(stop.wait())
        ended = asyncio.create_task(self.wait())
        try:
            await asyncio.wait({stopping, ended}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                await ended
        finally:
            stopping.cancel()
            ended.cancel()

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
    """uvicorn's server with listeners of ours, and without its signal handlers.

    The bootstrap owns the signals.
    """

    def __init__(self, config: uvicorn.Config, listen: _Listen) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._listen = listen
        self._listeners: list[Listener] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        self._listeners = [self._listen(one, self._protocol) for one in sockets or ()]
        for listener in self._listeners:
            listener.start(self.config.backlog)
        self.servers = self._listeners  # type: ignore[assignment]  # it closes them, and no more
        self.started = True
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn tells those to end that are open: one that is opened later would hear nothing, and
        # keep the server until the end of its grace.
        for listener in self._listeners:
            await listener.finish()
        await asyncio.sleep(_LAST_LOOK_SECONDS)
        await super().shutdown(sockets)

    def _protocol(self, place: Place) -> BoundedProtocol:
        kind: Any = self.config.http_protocol_class
        state = self.lifespan.state
        made: BoundedProtocol = kind(
            config=self.config, server_state=self.server_state, app_state=state
        )
        made.place = place
        return made

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _context(tls: ServingTls | None, choose: Choose) -> Callable[[], SSLContext] | None:
    return None if tls is None else lambda: choose(tls.in_force)


def _listening(
    bounds: Bounds, refuse: Refuse, edge: Edge, context: Callable[[], SSLContext] | None
) -> _Listen:
    """How a socket is listened on; connections to all sockets of the port are counted together."""
    places = Places(bounds, edge.is_proxy)

    def listen(listening: socket.socket, protocol: _MakeProtocol) -> Listener:
        return Listener(listening, protocol, places, bounds, edge.refusals, context, refuse)

    return listen
