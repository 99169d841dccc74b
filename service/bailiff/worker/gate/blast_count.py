"""How many pods each taint evicts, in all and by namespace; kept with each entry, O(1).

Counted are the pods of this worker's shard that wait, are held, run, or have been evicted and are
not gone yet: once they are, they are no longer what the taint does to the cluster now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.decisions import causing_taint
from bailiff.decisions.observations import identity_of
from bailiff.decisions.policies import Blast
from bailiff.decisions.policies.blast import blast_excess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.decisions.policies import BlastRadius
    from bailiff.kinds import Taint
    from bailiff.worker.timers.eviction import Eviction

_Identity = tuple[str, str, str]
K = TypeVar("K")


class BlastCount:
    """The counts, as long as there is a bound to hold them against."""

    def __init__(self, namespace_pods: Callable[[str], int], on_less: Callable[[], None]) -> None:
        """Start without bounds.

        Args:
            namespace_pods: the pods of a namespace.
            on_less: told when a taint no longer exceeds a bound.
        """
        self._namespace_pods = namespace_pods
        self._on_less = on_less
        self._bounds: BlastRadius | None = None
        self._taints: dict[str, tuple[Taint, str]] = {}
        self._pods: dict[_Identity, int] = {}
        self._by_namespace: dict[tuple[_Identity, str], int] = {}
        self._uncounted: list[Eviction] = []

    def set_bounds(self, bounds: BlastRadius | None) -> None:
        """Hold against these bounds from now on; without any, nothing is counted."""
        self._bounds = bounds
        if bounds is None:
            self._taints.clear()
            self._pods.clear()
            self._by_namespace.clear()
            self._uncounted.clear()

    @property
    def uncounted(self) -> int:
        """How many of those who are to be counted anew have not been: the counts are too low."""
        return len(self._uncounted)

    def count_anew(self, evictions: Iterable[Eviction]) -> None:
        """These were there before there were bounds; `count_some` of them at a time."""
        self._uncounted = [] if self._bounds is None else list(evictions)

    def count_some(self, present: Callable[[str], Eviction | None], most: int) -> None:
        """Count as many as `most` of them, as far as they are still `present`, by UID."""
        for _ in range(min(most, len(self._uncounted))):
            eviction = self._uncounted.pop()
            if present(eviction.uid) is eviction:
                self.entered(eviction)

    def entered(self, eviction: Eviction) -> None:
        """A pod is to go, perhaps by another taint than before."""
        if self._bounds is None:
            return
        taint = causing_taint(eviction.finding)
        before = self._taints.get(eviction.uid)
        if taint is None or (before is not None and before[0] == taint):
            return
        if before is not None:
            self.left(eviction.uid)
        namespace = eviction.pod.metadata.namespace
        self._taints[eviction.uid] = taint, namespace
        self._add(taint, namespace, 1)

    def left(self, uid: str) -> None:
        """A pod may stay, or has gone."""
        found = self._taints.pop(uid, None)
        if found is None or self._bounds is None:
            return
        before = self._excess(*found)
        self._add(*found, -1)
        if before is not None and self._excess(*found) is None:
            self._on_less()

    def of(self, uid: str) -> Blast | None:
        """What the taint that evicts a pod does besides; None: not known yet."""
        found = self._taints.get(uid)
        return None if found is None else self._blast(*found)

    def _add(self, taint: Taint, namespace: str, step: int) -> None:
        identity = identity_of(taint)
        _step(self._pods, identity, step)
        _step(self._by_namespace, (identity, namespace), step)

    def _excess(self, taint: Taint, namespace: str) -> str | None:
        if self._bounds is None:
            return None
        return blast_excess(self._blast(taint, namespace), self._bounds, namespace)

    def _blast(self, taint: Taint, namespace: str) -> Blast:
        identity = identity_of(taint)
        return Blast(
            taint=taint,
            pods=self._pods.get(identity, 0),
            namespace_evicted=self._by_namespace.get((identity, namespace), 0),
            namespace_pods=self._namespace_pods(namespace),
        )


def _step(counts: dict[K, int], key: K, step: int) -> None:
    count = counts.get(key, 0) + step
    if count:
        counts[key] = count
    else:
        del counts[key]
