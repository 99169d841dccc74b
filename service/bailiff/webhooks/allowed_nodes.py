"""Nodes as they were allowed to become: what no list shows yet."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from bailiff.kinds import Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.kinds.meta import Value

# Seconds from the answer of a hook to the write: as long as most API servers wait for webhooks. A
# list that was begun later knows better whether it came to that.
_WRITTEN = 10.0
# Seconds for which it is known, longer than a list is shown that was begun before: it may take 10,
# unless more time is set, and serves for 35 more. And nodes.
_KNOWN, _MOST = 90.0, 1_000


class _Allowed(NamedTuple):
    """A node as it is to be, and since when."""

    at: float
    node: Node


class AllowedNodes:
    """What this process has let be written of nodes. One loop owns it."""

    def __init__(self, clock: Clock) -> None:
        """Know of nothing yet."""
        self._clock = clock
        self._nodes: OrderedDict[str, _Allowed] = OrderedDict()

    def add(self, node: Node) -> None:
        """A node is about to be as this."""
        name = node.metadata.name
        self._nodes.pop(name, None)
        self._nodes[name] = _Allowed(self._clock.monotonic(), node)
        if len(self._nodes) > _MOST:
            self._nodes.popitem(last=False)

    def over(self, nodes: Iterable[Value], begun: float = -math.inf) -> tuple[Value, ...]:
        """A list of nodes with those in it that are about to be otherwise.

        One that is deleted right after it was allowed is shown, too, until a list is: where nodes
        are counted that is one too many, which holds and lets nobody go.

        Args:
            nodes: as they were listed.
            begun: the instant of the clock at which that was begun; default: nothing was listed.
        """
        latest = self._since(begun - _WRITTEN)
        if not latest:
            return tuple(nodes)
        others = (
            one for one in nodes if not (isinstance(one, Node) and one.metadata.name in latest)
        )
        return (*others, *latest.values())

    def _since(self, instant: float) -> dict[str, Node]:
        oldest = self._clock.monotonic() - _KNOWN
        while self._nodes and next(iter(self._nodes.values())).at <= oldest:
            self._nodes.popitem(last=False)
        return {name: one.node for name, one in self._nodes.items() if one.at > instant}
