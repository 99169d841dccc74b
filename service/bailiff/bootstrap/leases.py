"""The Leases of workers: what they are called, where they are, and who makes them.

A worker makes none. Who may create Leases cannot be limited to some by their names
(RBAC, resourceNames), so that a worker which might would be able to take any name, another
controller's too, before its owner does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.bootstrap.choices import ClusterUnusable
from bailiff.bootstrap.once import use_cluster
from bailiff.cluster import ClusterError, LeaseStore, service_account_namespace
from bailiff.worker import Shard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster


def lease_names(name: str, shards: Iterable[Shard]) -> dict[Shard, str]:
    """What the Lease of each shard is called: `bailiff-worker-0-of-1`."""
    return {shard: f"{name}-{shard}" for shard in shards}


def usual_lease_namespace(choice: ClusterChoice) -> str:
    """Where the Leases are, if nobody says: the pod's own namespace, else kube-system.

    Raises:
        ClusterUnusable: this is no pod.
    """
    if not choice.in_cluster:
        return "kube-system"
    try:
        return service_account_namespace()
    except ClusterError as error:
        raise ClusterUnusable(f"{error}; name the namespace of the Lease") from error


def create_leases(
    choice: ClusterChoice, namespace: str | None, name: str, count: int
) -> dict[str, bool]:
    """Make the Leases of so many shards; those that there are stay as they are.

    Args:
        choice: of the cluster.
        namespace: where; None as `usual_lease_namespace`.
        name: to which the shard is appended.
        count: of shards, 1 to MAX_SHARDS.

    Returns:
        NAMESPACE/NAME of each, and whether it was made.

    Raises:
        ClusterUnusable, StartError: as `use_cluster`.
    """
    names = lease_names(name, Shard.all_of(count)).values()

    async def create(cluster: Cluster) -> dict[str, bool]:
        where = namespace or usual_lease_namespace(choice)
        return {f"{where}/{one}": await LeaseStore(cluster, where, one).create() for one in names}

    return use_cluster(choice, create)
