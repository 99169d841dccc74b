"""Who tells of weakened policies, and on which object of the cluster."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from bailiff.actions.event_bodies import Regarding
from bailiff.worker import Elector
from bailiff.worker.policy.news import EventWriter, PolicyNews

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from bailiff.bootstrap.settings import WorkSettings
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.worker import Election

# Of a worker that acts without a Lease.
_NAMESPACE = Regarding(api_version="v1", kind="Namespace", name="kube-system")


def policy_news(
    settings: WorkSettings,
    cluster: Cluster,
    election: Election,
    clock: Clock,
    registry: CollectorRegistry,
) -> PolicyNews:
    """News of the policies; a shadow writes no Events."""
    if settings.shadow:
        return PolicyNews(clock, registry)
    fenced = cluster.fenced(election.may_act)
    writer = EventWriter(fenced, socket.gethostname(), _about(election), dry_run=settings.dry_run)
    return PolicyNews(clock, registry, writer)


def _about(election: Election) -> Callable[[], Regarding | None]:
    if not isinstance(election, Elector):
        return lambda: _NAMESPACE

    def held() -> Regarding | None:
        lease = election.held_lease
        if lease is None:
            return None
        return Regarding(
            api_version="coordination.k8s.io/v1",
            kind="Lease",
            name=lease.name,
            namespace=lease.namespace,
            uid=lease.uid,
        )

    return held
