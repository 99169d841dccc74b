"""The Leases of workers that tests start: made beforehand, as whoever installs them does."""

from __future__ import annotations

from bailiff.bootstrap.leases import lease_names
from bailiff.cluster import Cluster, LeaseStore
from bailiff.worker import Shard

NAME = "bailiff-worker"


async def make_leases(
    cluster: Cluster, namespace: str, *shards: Shard, name: str = NAME
) -> dict[Shard, LeaseStore]:
    """The Lease of each of these shards, or of the one that there is; those that are stay."""
    names = lease_names(name, shards or (Shard(),))
    stores = {shard: LeaseStore(cluster, namespace, one) for shard, one in names.items()}
    for store in stores.values():
        await store.create()
    return stores
