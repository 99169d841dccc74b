"""Which nodes are asked by way of the API server for now: they were not reached straight."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.clock import Clock

# Seconds. Where a network lets nothing through, each try takes as long as a connection may.
_FOR = 300.0
# Twice as many nodes as Kubernetes is made for.
_MOST = 10_000


class Detours:
    """Names of nodes, each for five minutes from when it was added."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def has(self, node: str) -> bool:
        """Whether this node is asked by way of the API server."""
        until = self._until.get(node)
        if until is None:
            return False
        if self._clock.monotonic() < until:
            return True
        del self._until[node]
        return False

    def add(self, node: str) -> None:
        """From now on this node is; of too many the first is tried straight again."""
        self._until.pop(node, None)
        self._until[node] = self._clock.monotonic() + _FOR
        if len(self._until) > _MOST:
            del self._until[next(iter(self._until))]
