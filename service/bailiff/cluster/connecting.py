"""From what the operator names to a client."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bailiff.clock import Clock, SystemClock
from bailiff.cluster.client import Cluster
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.kubeconfig import kubeconfig_reader
from bailiff.cluster.pace import Pace
from bailiff.cluster.service_account import in_cluster_reader
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.transport import Transport
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bailiff.cluster.credentials import Warn
    from bailiff.cluster.exchanges import Observer
    from bailiff.cluster.login import Read
    from bailiff.tracing import Tracer

log = structlog.get_logger(__name__)

# An elector sends one request at a time; one that was given up may still be on its way out.
_LEASE_REQUESTS = 2


async def connect(
    kubeconfig: Path | None = None,
    *,
    context: str | None = None,
    in_cluster: bool = False,
    settings: ClusterSettings | None = None,
    clock: Clock | None = None,
    observers: Sequence[Observer] = (),
    warn: Warn | None = None,
    tracer: Tracer = NO_TRACER,
) -> Cluster:
    """A client for one cluster; logs in, but sends no request yet.

    Until it is closed it keeps the login fresh.

    Args:
        kubeconfig: the file; None is $KUBECONFIG or the file in the home directory.
        context: of the kubeconfig; None is its current one.
        in_cluster: use the pod's service account instead of a kubeconfig.
        settings: bounds.
        clock: when credentials are due to be renewed, and when requests may go again.
        observers: told of every answer, and of every request that got none; they must not raise.
        warn: is told of what is dangerous about the login, such as a server's certificate that is
            not checked; None writes it to the log.
        tracer: makes a span of each request that is sent within another.

    Raises:
        ConfigError: both ways named at once, or the one named is not usable.
    """
    if in_cluster and (kubeconfig is not None or context is not None):
        raise ConfigError("either a kubeconfig or the service account of the pod, not both")
    bounds = settings or ClusterSettings()
    read: Read = in_cluster_reader() if in_cluster else kubeconfig_reader(kubeconfig, context)
    time = clock or SystemClock()
    credentials = Credentials(read, time, bounds.login_timeout, log, warn)
    await credentials.start()
    pace = Pace(time, bounds.max_requests)
    few = replace(bounds, max_requests=_LEASE_REQUESTS, max_watches=_LEASE_REQUESTS)
    return Cluster(
        Transport(credentials, bounds, pace, observers, tracer),
        bounds,
        leases=Transport(credentials, few, None, observers, tracer),
    )
