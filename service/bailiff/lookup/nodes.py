"""The nodes of a cluster for whoever asks about many of them many times a second."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.decisions.scheduling import NodePool
from bailiff.kinds import Node, as_served
from bailiff.turns import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from bailiff.clock import Clock
    from bailiff.decisions import System
    from bailiff.kinds.meta import Value
    from bailiff.lookup.live import LookUps

# Seconds for which a list serves, at least, and as a multiple of what it took: so one that is long
# is asked for a fifth of the time.
_FRESH, _SHARE = 1.0, 4.0
# Seconds between two lists where a name is asked for that the last one does not have.
_PAUSE = 0.2


class _Listed:
    """Nodes, and by which times of the clock they were asked for and came."""

    def __init__(self, pool: NodePool, asked: float, came: float) -> None:
        self.pool = pool
        self.asked = asked
        self.took = came - asked
        self.until = came + max(_FRESH, _SHARE * self.took)


class KeptNodes:
    """All nodes, listed for all who ask at the same time and kept for about a second.

    One list is under way at a time; whoever asks meanwhile has what comes of it.
    """

    def __init__(self, look_ups: LookUps, systems: Sequence[System[Any]], clock: Clock) -> None:
        """List nothing yet.

        Args:
            look_ups: of the cluster; how long one may take, and how many there may be, are theirs.
            systems: that are asked about the nodes.
            clock: for how long a list serves.
        """
        self._look_ups = look_ups
        self._systems = systems
        self._clock = clock
        self._listed: _Listed | None = None
        self._listing: asyncio.Task[_Listed] | None = None

    async def pool(self, names: Sequence[str] = ()) -> NodePool:
        """All nodes as they were about a second ago.

        Args:
            names: of some that are asked about; where one is not there, nodes are listed anew, as
                kube-scheduler hears of a node that comes before the next list does.

        Raises:
            LookUpError: they could not be listed.
        """
        now = self._clock.monotonic()
        listed = self._listed
        if listed is None or now >= listed.until:
            listed = await self._list()
        # One that is under way may have begun before.
        for _ in range(2):
            if listed.asked >= now or all(name in listed.pool for name in names):
                break
            await asyncio.sleep(self._rest(listed))
            listed = await self._list()
        return listed.pool

    def _rest(self, listed: _Listed) -> float:
        """Seconds until nodes may be listed before their time."""
        again = listed.asked + listed.took + max(_PAUSE, listed.took)
        return max(0.0, again - self._clock.monotonic())

    async def _list(self) -> _Listed:
        """The list that is under way, whether it comes or fails, or a new one."""
        if self._listing is None:
            self._listing = asyncio.create_task(self._listed_anew())
            self._listing.add_done_callback(self._end)
        # It goes on for others though whoever began it gives up.
        return await asyncio.shield(self._listing)

    def _end(self, listing: asyncio.Task[_Listed]) -> None:
        self._listing = None
        if not listing.cancelled() and listing.exception() is None:
            self._listed = listing.result()

    async def _listed_anew(self) -> _Listed:
        asked = self._clock.monotonic()
        found = (await self._look_ups.all_of(Node))[Node]
        pool = await in_thread(_pool_of, self._systems, found)
        return _Listed(pool, asked, self._clock.monotonic())


def _pool_of(systems: Sequence[System[Any]], found: Sequence[Value]) -> NodePool:
    return NodePool(systems, [as_served(one) for one in found if isinstance(one, Node)])
