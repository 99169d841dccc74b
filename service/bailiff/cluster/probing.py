"""Whether a resource can be followed at all, found out before anybody waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.cluster import request as requests
from bailiff.cluster.request import Selection

if TYPE_CHECKING:
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.resource import Resource

# The least that a server takes; the watch is closed as soon as it has begun.
_SECONDS = 1


async def may_follow(cluster: Cluster, resource: Resource[Any]) -> None:
    """Return if all objects of a resource may be listed and watched; two small requests.

    Raises:
        ForbiddenError: role-based access control says no to one of the two.
        NotFoundError: the resource is not served.
        ClusterError: nobody knows.
    """
    everything = Selection()
    version = await cluster.current_version(resource, everything)
    async with await cluster.open(requests.watch(resource, everything, _SECONDS, version)):
        return
