"""The worker's status port: what whoever looks at the worker may take of the process."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from bailiff.serving import Bounds, Edge, EdgeSettings, Gate, HttpServer, ThreadedHttpServer

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp

    from bailiff.serving import ServingTls

# Of one core: some hundreds of answers a second.
_SHARE = 0.5
# Seconds of work in one round of their loop. It pauses after each, and an answer takes five rounds.
_TURN = 0.002
# Observers are few: so many connections that the thread has time for all of them.
_BOUNDS = Bounds(max_connections=256, max_connections_per_peer=64)
# Asked for by machines, which do not ask again at once.
_NEVER_LATE = ("/healthz", "/readyz", "/metrics")


class StatusPort:
    """Makes the server; its bounds come from the environment before the application is there."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Read the settings; metrics go into the registry.

        Raises:
            SettingsError: the environment has a setting that cannot be.
        """
        edge = Edge.of(EdgeSettings.read(), registry)
        self._edge = dataclasses.replace(edge, gate=Gate(_TURN))

    async def turn(self, address: str) -> None:
        """Until an address may be sent another piece of a long answer."""
        await self._edge.gate.wait(address, math.inf)

    def server(
        self, app: ASGIApp, host: str, port: int, tls: ServingTls | None = None
    ) -> ThreadedHttpServer:
        """A server in a thread of its own, not started; TLS None: none is spoken."""
        server = HttpServer(
            *(app, host, port, _BOUNDS), edge=self._edge, tls=tls, never_late=_NEVER_LATE
        )
        return ThreadedHttpServer(server, _SHARE)
