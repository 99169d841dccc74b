"""How many nodes fail in each zone and in the cluster, and what the breakers say to it.

Counts are kept with each change of a node, O(1). They are judged when somebody asks, and not with
each change: while a list of all nodes is taken in, what has been counted so far tells nothing. All
nodes of the cluster count, not only those of this worker's shard: a fault that is not the nodes'
knows no shards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.decisions.policies import (
    BreakerLevel,
    Breakers,
    BreakerState,
    describe_zone,
    is_failing,
    judge,
    zone_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bailiff.decisions.policies import Breaker
    from bailiff.kinds import Node

# The cluster's own counts and state; no zone can have this name, labels have no blanks.
CLUSTER = "the cluster"

_NORMAL = BreakerState()

log = structlog.get_logger(__name__)


class _Seen(NamedTuple):
    zone: str
    failing: bool


class _Count:
    """Nodes of one zone, or of the cluster."""

    __slots__ = ("failing", "state", "total")

    def __init__(self) -> None:
        self.failing = 0
        self.total = 0
        self.state = _NORMAL


class Zones:
    """The breakers of a cluster."""

    def __init__(self, on_changed: Callable[[str, float | None], None]) -> None:
        """Start without breakers.

        Args:
            on_changed: told of each zone, or CLUSTER, whose breaker has changed its level, and to
                how many evictions a second it slows down; None if to none in particular.
        """
        self._on_changed = on_changed
        self._breakers = Breakers()
        self._nodes: dict[str, _Seen] = {}
        self._counts: dict[str, _Count] = {}
        self._unjudged: set[str] = set()

    def set_breakers(
        self,
        breakers: Breakers,
        nodes: Iterable[Node],
        is_unreadable: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Go on with these breakers, and with these nodes, counted anew.

        A node that is there and can no longer be read counts as it was counted last; one that
        nobody has counted before does not count.
        """
        self._breakers = breakers
        kept = {name: seen for name, seen in self._nodes.items() if is_unreadable(name)}
        self._nodes.clear()
        for count in self._counts.values():
            count.failing = count.total = 0
        if breakers.zone is None and breakers.cluster is None:
            nodes, kept = (), {}
        for name, seen in kept.items():
            self._count(name, seen)
        for node in nodes:
            self._count(node.metadata.name, _Seen(zone_of(node), is_failing(node)))
        self._unjudged |= self._counts.keys()
        self.judge()
        # The level may be the same, and the rate another.
        for name, count in self._counts.items():
            if count.state.level is BreakerLevel.SLOW:
                self._on_changed(name, self._rate(name, count))

    def look_at(self, name: str, node: Node | None) -> bool:
        """A node appeared, changed, or with None went; whether that is to be judged."""
        if self._breakers.zone is None and self._breakers.cluster is None:
            return False
        seen = None if node is None else _Seen(zone_of(node), is_failing(node))
        if seen == self._nodes.get(name):
            return False
        self._count(name, seen)
        return True

    def judge(self) -> None:
        """Judge what has been counted since the last time."""
        while self._unjudged:
            self._judge(self._unjudged.pop())

    def state(self, zone: str) -> BreakerState:
        """What the breaker of a zone, or of CLUSTER, says; normal where there is none."""
        count = self._counts.get(zone)
        return _NORMAL if count is None else count.state

    def states(self) -> Iterator[tuple[str, BreakerState]]:
        """All zones that there are or have been, and CLUSTER."""
        return ((name, count.state) for name, count in self._counts.items())

    def _count(self, name: str, seen: _Seen | None) -> None:
        before = self._nodes.pop(name, None)
        if seen is not None:
            self._nodes[name] = seen
        for one, step in ((before, -1), (seen, 1)):
            if one is not None:
                for where in (one.zone, CLUSTER):
                    count = self._counts.setdefault(where, _Count())
                    count.total += step
                    count.failing += step * one.failing
                    self._unjudged.add(where)

    def _judge(self, where: str) -> None:
        count = self._counts[where]
        before, count.state = count.state, _judged(count, self._breaker(where), where)
        if count.total == 0 and where != CLUSTER:
            del self._counts[where]
        if count.state.level is not before.level:
            _log_change(where, count)
            self._on_changed(where, self._rate(where, count))

    def _breaker(self, where: str) -> Breaker | None:
        return self._breakers.cluster if where == CLUSTER else self._breakers.zone

    def _rate(self, where: str, count: _Count) -> float | None:
        breaker = self._breaker(where)
        is_slow = count.state.level is BreakerLevel.SLOW
        return breaker.slow_per_second if breaker is not None and is_slow else None


def _judged(count: _Count, breaker: Breaker | None, where: str) -> BreakerState:
    if breaker is None:
        return _NORMAL
    name = "cluster" if where == CLUSTER else describe_zone(where)
    return judge(count.failing, count.total, breaker, name)


def _log_change(where: str, count: _Count) -> None:
    log.warning(
        "breaker changed",
        where=where if where == CLUSTER else describe_zone(where),
        level=count.state.level.value,
        why=count.state.message or "few enough nodes fail",
        failing=count.failing,
        nodes=count.total,
    )
