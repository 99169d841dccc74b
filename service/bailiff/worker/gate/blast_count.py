"""How many pods each cause evicts, in all and by namespace; kept with each entry, O(1).

Counted are the pods of this worker's shard that wait, are held, run, or have been evicted and are
not gone yet: once they are, they are no longer what the cause does to the cluster now. Those that
were there before there were bounds enter again when their node is looked at, all of them once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions.policies import NO_BLAST, Blast, blast_excess

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.decisions.policies import BlastRadius
    from bailiff.worker.timers.eviction import Eviction

_NO_CAUSE = "", ""


class BlastCount:
    """The counts, as long as there is a bound to compare them with."""

    def __init__(self, namespace_pods: Callable[[str], int]) -> None:
        """Start without bounds; the argument counts the pods of a namespace."""
        self._namespace_pods = namespace_pods
        self._bounds: BlastRadius | None = None
        # By UID of the pod, with its namespace. An empty one has no blast radius.
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
        if self._bounds is None:
            return False
        cause = eviction.finding.cause
        before = self._causes.get(eviction.uid)
        if before is not None and before[0] == cause:
            return False
        is_less = self.left(eviction.uid)
        namespace = eviction.pod.metadata.namespace
        self._causes[eviction.uid] = cause, namespace
        self._count(cause, namespace, 1)
        return is_less

    def left(self, uid: str) -> bool:
        """A pod may stay, or has gone; whether its cause no longer exceeds a bound."""
        cause, namespace = self._causes.pop(uid, _NO_CAUSE)
        exceeded = self._exceeds(cause, namespace)
        self._count(cause, namespace, -1)
        return exceeded and not self._exceeds(cause, namespace)

    def of(self, uid: str) -> Blast:
        """What the cause that evicts a pod does besides."""
        return self._blast(*self._causes.get(uid, _NO_CAUSE))

    def _count(self, cause: str, namespace: str, step: int) -> None:
        if not cause:
            return
        for key in (cause, namespace), (cause, None):
            self._pods[key] += step
            if not self._pods[key]:
                del self._pods[key]

    def _exceeds(self, cause: str, namespace: str) -> bool:
        bounds, blast = self._bounds, self._blast(cause, namespace)
        return bounds is not None and blast_excess(blast, bounds, namespace) is not None

    def _blast(self, cause: str, namespace: str) -> Blast:
        if not cause:
            return NO_BLAST
        return Blast(
            cause=cause,
            pods=self._pods[cause, None],
            namespace_evicted=self._pods[cause, namespace],
            namespace_pods=self._namespace_pods(namespace),
        )
