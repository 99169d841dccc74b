"""A demo cluster from start to stop."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import secrets
from typing import TYPE_CHECKING, Self

import yaml

from bailiff.clock import Clock, SystemClock
from bailiff.serving import HttpServer
from bailiff_demo.certificate import new_certificate
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
from bailiff_demo.http.asking import AskingForToken
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
    """A Kubernetes API in this process' memory, for this machine alone.

    It asks for the token in its kubeconfig, which is another at each start; who has it may do
    everything.

    Use it as an asynchronous context manager; within it the API is served in the running loop.

    Attributes:
        url: as `https://127.0.0.1:12345`.
        authority: who vouches for it, in PEM.
        token: for the header Authorization.
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
            host: address of loopback to listen on.
            port: 0 for a free one.
            clock: for the times that the server writes.
            fleet: objects that are there from the start.
            lively: run a scheduler, kubelets and controllers.
            settings: bounds.

        Raises:
            FleetError: the fleet breaks rules.
            ValueError: others than this machine would reach the host.
        """
        _check_host(host)
        clock = clock or SystemClock()
        self._host = host
        self.url = ""
        self.token = secrets.token_urlsafe(32)
        certificate = new_certificate()
        self.authority = certificate.authority
        self.store = Store(clock, settings)
        self.registry = Registry(self.store, clock)
        app = AskingForToken(create_app(self.registry, settings), self.token)
        dated = Dated(app, clock)
        self._server = HttpServer(dated, host, port, tls=certificate.tls, date_header=False)
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
        host = f"[{self._host}]" if ":" in self._host else self._host
        self.url = f"https://{host}:{port}"
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
        """A kubeconfig for this cluster, as YAML. It holds the token."""
        authority = base64.b64encode(self.authority.encode()).decode()
        cluster = {"server": self.url, "certificate-authority-data": authority}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _CONTEXT, "cluster": cluster}],
            "users": [{"name": _CONTEXT, "user": {"token": self.token}}],
            "contexts": [{"name": _CONTEXT, "context": {"cluster": _CONTEXT, "user": _CONTEXT}}],
            "current-context": _CONTEXT,
        }
        return yaml.safe_dump(config, sort_keys=False)


def _check_host(host: str) -> None:
    if host == "localhost":
        return
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ValueError(f"{host}: a demo cluster is for this machine alone: 127.0.0.1")
