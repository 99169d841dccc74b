"""Which nodes fail, by zone, and what the breakers say to it.

They are judged when somebody asks, and not with each change: while a list of all nodes is taken
in, what has been seen so far tells nothing. All nodes of the cluster count, not only those of this
worker's shard: a fault that is not the nodes' knows no shards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.decisions.policies import (
    CLUSTER,
    Breakers,
    BreakerState,
    describe_zone,
    is_failing,
    judge_all,
    zone_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.kinds import Node

_NORMAL = BreakerState()
_NO_BREAKERS = Breakers()

log = structlog.get_logger(__name__)


class Zones:
    """The breakers of a cluster.

    Attributes:
        states: what they said last, by zone and for CLUSTER; of none where there are none.
    """

    def __init__(self) -> None:
        self.states: Mapping[str, BreakerState] = {}
        self._breakers = _NO_BREAKERS
        # By name: the zone, and whether the node fails.
        self._nodes: dict[str, tuple[str, bool]] = {}
        self._is_judged = True

    def set_breakers(self, breakers: Breakers) -> None:
        """Judge by these from now on."""
        self._breakers = breakers
        self._is_judged = False

    def look_at(self, name: str, node: Node | None) -> bool:
        """A node appeared, changed, or with None went; whether that is to be judged."""
        seen = None if node is None else (zone_of(node), is_failing(node))
        if seen == self._nodes.get(name):
            return False
        if seen is None:
            del self._nodes[name]
        else:
            self._nodes[name] = seen
        self._is_judged = False
        return self._breakers != _NO_BREAKERS

    def judge(self) -> bool:
        """Judge what has changed since the last time; whether any level is another now."""
        if self._is_judged:
            return False
        self._is_judged, before = True, self.states
        is_off = self._breakers == _NO_BREAKERS
        self.states = {} if is_off else judge_all(self._nodes.values(), self._breakers)
        changed = [
            where
            for where in {**before, **self.states}
            if self.state(where).level is not before.get(where, _NORMAL).level
        ]
        for where in changed:
            _log_change(where, self.state(where))
        return bool(changed)

    def state(self, where: str) -> BreakerState:
        """What the breaker of a zone, or of CLUSTER, says; normal where there is none."""
        return self.states.get(where, _NORMAL)


def _log_change(where: str, state: BreakerState) -> None:
    log.warning(
        "breaker changed",
        where=where if where == CLUSTER else describe_zone(where),
        level=state.level.value,
        why=state.message or "few enough nodes fail",
    )
