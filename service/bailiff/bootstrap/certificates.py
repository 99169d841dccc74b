"""A look at Bailiff's own serving certificate, for a command that ends at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bailiff.bootstrap.leases import usual_lease_namespace
from bailiff.bootstrap.once import use_cluster
from bailiff.certificates import MOST_SETTLED, Renewal
from bailiff.clock import SystemClock
from bailiff.cluster import ClusterClock

# Seconds for all but the times that webhook configurations settle.
_REQUESTS = 60.0

if TYPE_CHECKING:
    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.certificates import Place, Plan, Terms
    from bailiff.cluster import Cluster


def renew_certificate(
    choice: ClusterChoice, place: Place, terms: Terms, settle_seconds: float, *, force: bool
) -> Plan:
    """Replace the certificate where that is due; what was done.

    Args:
        choice: of the cluster.
        place: where it is kept; no namespace: the pod's own, else kube-system.
        terms: how it is to be.
        settle_seconds: see Renewal.
        force: replace it whatever its age.

    Raises:
        ClusterUnusable, StartError: as use_cluster.
    """
    # A machine whose clock is ahead would replace a good certificate by one that is not valid yet.
    clock = ClusterClock(SystemClock())

    async def renew(cluster: Cluster) -> Plan:
        there = replace(place, namespace=place.namespace or usual_lease_namespace(choice))
        renewal = Renewal(cluster, clock, there, settle_seconds)
        return await renewal.run(terms, force=force)

    within = MOST_SETTLED * settle_seconds + _REQUESTS
    return use_cluster(choice, renew, observers=(clock.answered,), within=within)
