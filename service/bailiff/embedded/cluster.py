"""An embedded cluster from start to stop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Self

import uvicorn
import yaml

from bailiff.clock import Clock, SystemClock
from bailiff.embedded.faults import Faults
from bailiff.embedded.http import Application
from bailiff.embedded.pretend import (
    Actor,
    Collector,
    Disruption,
    Kubelet,
    Scheduler,
    Workloads,
    perform,
)
from bailiff.embedded.registry import Registry
from bailiff.embedded.resources import NAMESPACES, PRIORITYCLASSES
from bailiff.embedded.settings import DEFAULT_SETTINGS, EmbeddedSettings
from bailiff.embedded.storage import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.embedded.fleet import Fleet

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_CONTEXT = "bailiff-embedded"
# Whoever has not finished a request by then is cut off, in seconds.
_GRACE = 1


class _Server(uvicorn.Server):
    """Leaves the process' signals to whoever runs the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._listening.set()

    async def ready(self, serving: asyncio.Task[None]) -> None:
        """Wait until requests are taken, or raise what ended `serving`."""
        listening = asyncio.create_task(self._listening.wait())
        try:
            await asyncio.wait((listening, serving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            listening.cancel()
        if serving.done():
            serving.result()


class EmbeddedCluster:
    """A Kubernetes API in this process' memory, on plain HTTP without authentication.

    Use it as an asynchronous context manager; within it the API is served in the running loop.

    Attributes:
        url: as `http://127.0.0.1:12345`.
        store: the objects, past all rules; for tests.
        faults: trouble on order, and the requests that came.
        registry: the API's verbs without HTTP.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        fleet: Fleet | None = None,
        pretend: bool = True,
        settings: EmbeddedSettings = DEFAULT_SETTINGS,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            host: address to listen on.
            port: 0 for a free one.
            clock: for the times that the server writes.
            fleet: objects that are there from the start.
            pretend: run a scheduler, a kubelet and controllers.
            settings: bounds.
        """
        self._host, self._port = host, port
        self.clock = clock or SystemClock()
        self.store = Store(self.clock, settings)
        self.registry = Registry(self.store, self.clock)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.url = ""
        self.faults = Faults(self.store)
        self._application = Application(self.registry, settings, self.faults)
        self._actors: tuple[Actor, ...] = ()
        if pretend:
            self._actors = (
                Scheduler(self.registry),
                Kubelet(self.registry, settings),
                Workloads(self.registry),
                Disruption(self.registry),
                Collector(self.registry),
            )
        self._performing: list[asyncio.Task[None]] = []
        self._seed()
        if fleet is not None:
            fleet.settle(self.registry)

    def _seed(self) -> None:
        for name in _NAMESPACES:
            self.registry.create(NAMESPACES, "", {"metadata": {"name": name}})
        for name, value in _PRIORITIES.items():
            self.registry.create(PRIORITYCLASSES, "", {"metadata": {"name": name}, "value": value})

    async def __aenter__(self) -> Self:
        listener = _listen(self._host, self._port)
        port = listener.getsockname()[1]
        self.url = f"http://{self._host}:{port}"
        config = uvicorn.Config(
            self._application,
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=_GRACE,
        )
        self._server = _Server(config)
        self._application.connections.protocols = self._server.server_state.connections
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        await self._server.ready(self._serving)
        self._performing = [
            asyncio.create_task(perform(actor, self.registry), name=type(actor).__name__)
            for actor in self._actors
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is None or self._serving is None:
            return
        for task in self._performing:
            task.cancel()
        ended = await asyncio.gather(*self._performing, return_exceptions=True)
        self.store.end_watches()
        self._server.should_exit = True
        await self._serving
        # An actor never ends by itself: if one did, its fault must be seen.
        for error in ended:
            if isinstance(error, Exception):
                raise error

    def kubeconfig(self) -> str:
        """A kubeconfig for this cluster, as YAML."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _CONTEXT, "cluster": {"server": self.url}}],
            "users": [{"name": _CONTEXT, "user": {}}],
            "contexts": [{"name": _CONTEXT, "context": {"cluster": _CONTEXT, "user": _CONTEXT}}],
            "current-context": _CONTEXT,
        }
        return yaml.safe_dump(config, sort_keys=False)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    It names its protocol, unlike socket.create_server's: asyncio sets TCP_NODELAY only on such,
    and without that every answer waits 40 ms for the client's delayed acknowledgement.

    Raises:
        OSError: no such address, or the port is taken.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener
