"""How many pods each taint evicts, in all and by namespace; kept with each entry, O(1).

Counted are the pods of this worker's shard that wait, are held, run, or have been evicted and are
not gone yet: once they are, they are no longer what the taint does to the cluster now. Those that
were there before there were bounds enter again when their node is looked at, all of them once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions import causing_taint
from bailiff.decisions.observations import identity_of
from bailiff.decisions.policies import NO_BLAST, Blast, blast_excess

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.decisions.policies import BlastRadius
    from bailiff.kinds import Taint
    from bailiff.worker.eviction import Eviction

_NO_CAUSE: tuple[Taint | None, str] = (None, "")


class BlastCount:
    """The counts, as long as there is a bound to compare them with."""

    def __init__(self, namespace_pods: Callable[[str], int]) -> None:
        """Start without bounds; the argument counts the pods of a namespace."""
        self._namespace_pods = namespace_pods
        self._bounds: BlastRadius | None = None
        # By UID of the pod, with its namespace. No taint: what evicts it has no blast radius.
        self._causes: dict[str, tuple[Taint | None, str]] = {}
        # By the taint's identity and namespace; None: all namespaces.
        self._pods: Counter[tuple[tuple[str, str, str], str | None]] = Counter()

    def set_bounds(self, bounds: BlastRadius | None) -> None:
        """Compare with these bounds from now on; without any, nothing is counted."""
        self._bounds = bounds
        if bounds is None:
            self._causes.clear()
            self._pods.clear()

    def entered(self, eviction: Eviction) -> bool:
        """A pod is to go, perhaps by another taint than before; returns what `left` does."""
        if self._bounds is None:
            return False
        taint = causing_taint(eviction.finding)
        before = self._causes.get(eviction.uid)
        if before is not None and before[0] == taint:
            return False
        is_less = self.left(eviction.uid)
        namespace = eviction.pod.metadata.namespace
        self._causes[eviction.uid] = taint, namespace
        self._count(taint, namespace, 1)
        return is_less

    def left(self, uid: str) -> bool:
        """A pod may stay, or has gone; whether its taint no longer exceeds a bound."""
        taint, namespace = self._causes.pop(uid, _NO_CAUSE)
        exceeded = self._exceeds(taint, namespace)
        self._count(taint, namespace, -1)
        return exceeded and not self._exceeds(taint, namespace)

    def of(self, uid: str) -> Blast:
        """What the taint that evicts a pod does besides."""
        return self._blast(*self._causes.get(uid, _NO_CAUSE))

    def _count(self, taint: Taint | None, namespace: str, step: int) -> None:
        if taint is None:
            return
        for key in (identity_of(taint), namespace), (identity_of(taint), None):
            self._pods[key] += step
            if not self._pods[key]:
                del self._pods[key]

    def _exceeds(self, taint: Taint | None, namespace: str) -> bool:
        bounds, blast = self._bounds, self._blast(taint, namespace)
        return bounds is not None and blast_excess(blast, bounds, namespace) is not None

    def _blast(self, taint: Taint | None, namespace: str) -> Blast:
        if taint is None:
            return NO_BLAST
        identity = identity_of(taint)
        return Blast(
            taint=taint,
            pods=self._pods[identity, None],
            namespace_evicted=self._pods[identity, namespace],
            namespace_pods=self._namespace_pods(namespace),
        )
