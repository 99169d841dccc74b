"""The Lease that a worker holds here."""

from __future__ import annotations

from typing import Any

from bailiff.cluster import Cluster
from tests.chaos.scenarios import LEASES
from tests.harness.leases import make_leases

NAMESPACE = "kube-system"


async def lease_flags(cluster: Cluster, name: str) -> tuple[str, ...]:
    """Make the Lease; the options of `bailiff worker`."""
    await make_leases(cluster, NAMESPACE, name=name)
    return ("--leader-elect", f"--lease-namespace={NAMESPACE}", f"--lease-name={name}")


async def spec_of(cluster: Cluster, prefix: str) -> dict[str, Any]:
    """The spec of the one Lease whose name begins so; a worker appends its shard."""
    leases = (await cluster.list(LEASES, namespace=NAMESPACE)).items
    [spec] = [one["spec"] for one in leases if one["metadata"]["name"].startswith(prefix)]
    found: dict[str, Any] = spec
    return found
