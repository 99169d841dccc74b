"""From a login to a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.api.wire import LeanWire
from bailiff.cluster.client import Cluster
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.settings import ClusterSettings
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster.credentials import Log
    from bailiff.cluster.login import Read
    from bailiff.tracing import Tracer


async def connect(
    read: Read,
    clock: Clock,
    log: Log,
    settings: ClusterSettings | None = None,
    tracer: Tracer = NO_TRACER,
) -> Cluster:
    """A client for one API server; logs in, but sends no request yet. Close it.

    Args:
        read: gives a login.
        clock: when it is renewed.
        log: is told what becomes of the login.
        settings: bounds.
        tracer: makes a span of each request that is sent within another.

    Raises:
        ConfigError: there is no usable login.
    """
    bounds = settings or ClusterSettings()
    credentials = Credentials(read, clock, bounds.login_timeout, log)
    await credentials.start()
    wire = LeanWire(credentials, bounds, tracer)
    return Cluster(wire, bounds, leases=wire)
