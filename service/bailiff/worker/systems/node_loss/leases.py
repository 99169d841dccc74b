"""The Leases of nodes, as last seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.cluster import Changed, Deleted, Replaced, Resource, Selection, Unreadable
from bailiff.kinds.lease import NODE_LEASES, Lease
from bailiff.worker.mirror.watching import feed

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster import WatchEvent
    from bailiff.worker.mirror.watching import Watches

LEASES = Resource("coordination.k8s.io", "v1", "leases", Lease)
_NAME = "leases of nodes"


class NodeLeases:
    """By the name of the node; fed by a watch of kube-node-lease."""

    def __init__(self, clock: Clock) -> None:
        """Know none yet."""
        self._clock = clock
        self._leases: dict[str, Lease] = {}
        self._heard_at = 0.0
        self.synced = False

    def of(self, node: str) -> Lease | None:
        """The Lease of a node; None: it has none, or it cannot be read."""
        return self._leases.get(node)

    def put(self, lease: Lease) -> None:
        """It was read just now."""
        self._leases[lease.metadata.name] = lease

    @property
    def silence(self) -> float:
        """Seconds for which no Lease of any node was heard of; 0 where there are none.

        With more than a few nodes one is renewed each second. Where none is, it is rather we who
        hear nothing.
        """
        return self._clock.elapsed() - self._heard_at if self._leases else 0.0

    async def follow(self, watches: Watches) -> None:
        """Keep in step until cancelled."""
        watch = watches.open(LEASES, Selection(namespace=NODE_LEASES))
        watches.healths[_NAME] = watch.health
        await feed(watch, self.apply)

    async def apply(self, event: WatchEvent[Lease]) -> None:
        """Take in what the watch told."""
        self._heard_at = self._clock.elapsed()
        match event:
            case Replaced(items=items):
                self._leases = {one.metadata.name: one for one in items}
                self.synced = True
            case Changed(object=lease):
                self.put(lease)
            case Deleted(object=lease):
                self._leases.pop(lease.metadata.name, None)
            case Unreadable(metadata=metadata):
                self._leases.pop(metadata.name, None)
