"""How many pods each cause evicts, in all and by namespace; kept with each entry, O(1).

Counted are the pods of this worker's shard that wait, are held, run, or have been evicted and are
not gone yet, though they may be terminating: once they are gone, they are no longer what the cause
does to the cluster now. Who evicted a pod that was terminating before this worker began is not
known: it does not count. Pods that were there before there were bounds enter again when their node
is looked at, all of them once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions.policies import NO_BLAST, Blast, blast_excess

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.decisions.policies import BlastRadius
    from bailiff.worker.timers.eviction import Eviction


class BlastCount:
    """The counts, as long as there is a bound to compare them with."""

    def __init__(self, namespace_pods: Callable[[str], int]) -> None:
        """Start without bounds; the argument counts the pods of a namespace."""
        self._namespace_pods = namespace_pods
        self._bounds: BlastRadius | None = None
        # The cause and the namespace, by UID of the pod.
        self._causes: dict[str, tuple[str, str]] = {}
        # By cause and namespace; None: all namespaces.
        self._pods: Counter[tuple[str, str | None]] = Counter()

    def set_bounds(self, bounds: BlastRadius | None) -> None:
        """Compare with these bounds from now on; without any, nothing is counted."""
        self._bounds = bounds
        if bounds is None:
            self._causes.clear()
            self._pods.clear()

    def entered(self, eviction: Eviction) -> bool:
        """A pod is to go, perhaps for another cause than before; returns what `left` does."""
        found = eviction.finding.cause, eviction.pod.metadata.namespace
        if self._bounds is None or found == self._causes.get(eviction.uid):
            return False
        is_less = self.left(eviction.uid)
        # What names no cause has no blast radius.
        if eviction.finding.cause:
            self._causes[eviction.uid] = found
            self._count(*found, 1)
        return is_less

    def left(self, uid: str) -> bool:
        """A pod may stay, or has gone; whether its cause no longer exceeds a bound."""
        found = self._causes.pop(uid, None)
        if found is None:
            return False
        exceeded = self._exceeds(*found)
        self._count(*found, -1)
        return exceeded and not self._exceeds(*found)

    def of(self, uid: str) -> Blast:
        """What the cause that evicts a pod does besides."""
        found = self._causes.get(uid)
        return NO_BLAST if found is None else self._blast(*found)

    def _count(self, cause: str, namespace: str, step: int) -> None:
        for key in (cause, namespace), (cause, None):
            self._pods[key] += step
            if not self._pods[key]:
                del self._pods[key]

    def _exceeds(self, cause: str, namespace: str) -> bool:
        bounds, blast = self._bounds, self._blast(cause, namespace)
        return bounds is not None and blast_excess(blast, bounds, namespace) is not None

    def _blast(self, cause: str, namespace: str) -> Blast:
        return Blast(
            cause=cause,
            pods=self._pods[cause, None],
            namespace_evicted=self._pods[cause, namespace],
            namespace_pods=self._namespace_pods(namespace),
        )
