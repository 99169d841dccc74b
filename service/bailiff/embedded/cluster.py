"""An embedded cluster from start to stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

import yaml

from bailiff.clock import Clock, SystemClock
from bailiff.embedded.faults import Faults
from bailiff.embedded.http import Application
from bailiff.embedded.pretend import (
    Actor,
    Claims,
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
from bailiff.serving import HttpServer

if TYPE_CHECKING:
    from bailiff.embedded.fleet import Fleet

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_CONTEXT = "bailiff-embedded"
# Whoever has not finished a request by then is cut off, in seconds.
_GRACE = 1


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
        self._host = host
        self.clock = clock or SystemClock()
        self.store = Store(self.clock, settings)
        self.registry = Registry(self.store, self.clock)
        self.url = ""
        self.faults = Faults(self.store)
        self._application = Application(self.registry, settings, self.faults)
        self._server = HttpServer(self._application, host, port)
        self._actors: tuple[Actor, ...] = ()
        if pretend:
            self._actors = (
                Scheduler(self.registry),
                Kubelet(self.registry, settings),
                Workloads(self.registry),
                Disruption(self.registry),
                Claims(self.registry),
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
        port = await self._server.start()
        self.url = f"http://{self._host}:{port}"
        self._application.connections.protocols = self._server.connections
        self._performing = [
            asyncio.create_task(perform(actor, self.registry), name=type(actor).__name__)
            for actor in self._actors
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._performing:
            task.cancel()
        ended = await asyncio.gather(*self._performing, return_exceptions=True)
        self.store.end_watches()
        await self._server.stop(_GRACE)
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
