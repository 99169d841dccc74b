"""A demo cluster from start to stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

import yaml

from bailiff.clock import Clock, SystemClock
from bailiff.serving import HttpServer
from bailiff_demo.controllers import (
    Claims,
    Collector,
    Controller,
    Disruption,
    Kubelet,
    Scheduler,
    Workloads,
    run,
)
from bailiff_demo.http import create_app
from bailiff_demo.http.dating import Dated
from bailiff_demo.registry import Registry
from bailiff_demo.resources import NAMESPACES, PRIORITYCLASSES
from bailiff_demo.settings import DEFAULT_SETTINGS, DemoSettings
from bailiff_demo.store import Store

if TYPE_CHECKING:
    from bailiff_demo.fleet import Fleet

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_CONTEXT = "bailiff-demo"
# Whoever has not finished a request by then is cut off, in seconds.
_GRACE = 1


class DemoCluster:
    """A Kubernetes API in this process' memory, on plain HTTP without authentication.

    Use it as an asynchronous context manager; within it the API is served in the running loop.

    Attributes:
        url: as `http://127.0.0.1:12345`.
        registry: the API's verbs without HTTP.
        store: the objects, past all rules.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        fleet: Fleet | None = None,
        lively: bool = True,
        settings: DemoSettings = DEFAULT_SETTINGS,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            host: address to listen on.
            port: 0 for a free one.
            clock: for the times that the server writes.
            fleet: objects that are there from the start.
            lively: run a scheduler, kubelets and controllers.
            settings: bounds.

        Raises:
            FleetError: the fleet breaks rules.
        """
        clock = clock or SystemClock()
        self._host = host
        self.url = ""
        self.store = Store(clock, settings)
        self.registry = Registry(self.store, clock)
        app = Dated(create_app(self.registry, settings), clock)
        self._server = HttpServer(app, host, port, date_header=False)
        self._controllers: tuple[Controller, ...] = ()
        if lively:
            self._controllers = (
                Scheduler(self.registry),
                Kubelet(self.registry, settings),
                *(kind(self.registry) for kind in (Workloads, Disruption, Claims, Collector)),
            )
        self._running: list[asyncio.Task[None]] = []
        for name in _NAMESPACES:
            self.registry.create(NAMESPACES, "", {"metadata": {"name": name}})
        for name, value in _PRIORITIES.items():
            self.registry.create(PRIORITYCLASSES, "", {"metadata": {"name": name}, "value": value})
        if fleet is not None:
            fleet.settle(self.registry)

    async def __aenter__(self) -> Self:
        port = await self._server.start()
        self.url = f"http://{self._host}:{port}"
        self._running = [
            asyncio.create_task(run(controller, self.registry), name=type(controller).__name__)
            for controller in self._controllers
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._running:
            task.cancel()
        ended = await asyncio.gather(*self._running, return_exceptions=True)
        self.store.end_watches()
        await self._server.stop(_GRACE)
        # A controller never ends by itself: if one did, its fault must be seen.
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
