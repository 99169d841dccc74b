"""The nodes of a cluster: one list for the extender, the hooks and the gate."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.decisions import Wanted
from bailiff.decisions.scheduling import NodePool
from bailiff.kinds import Node, as_served
from bailiff.lookup.kept import FOR_EVER, Age, Answer, Kept
from bailiff.lookup.live import in_time
from bailiff.turns import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.clock import Clock
    from bailiff.decisions import System
    from bailiff.lookup.live import Source

ALL_NODES = Wanted(Node)
Listed: TypeAlias = "Answer[tuple[Node, ...]]"

# What serves kube-scheduler, which asks many times a second: about a second; a list that takes long
# is made a fifth of the time.
_POOL = Age(1.0, times_as_long=4.0)
# Seconds between two lists where a name is asked for that the last one does not have.
_PAUSE = 0.2


class AllNodes:
    """All nodes, listed for all who ask at the same time; how old a list may be each says itself.

    One list is under way at a time; whoever asks meanwhile has what comes of it.
    """

    def __init__(self, source: Source, clock: Clock, timeout: float = 10.0) -> None:
        """List nothing yet.

        Args:
            source: of the nodes.
            clock: for the age of a list.
            timeout: seconds after which a list is given up that does not come. Whoever asks waits
                for as long as it has itself; one that takes longer is there for the next.
        """
        self._source = source
        self._timeout = timeout
        self._kept: Kept[tuple[Node, ...]] = Kept(clock, most=1)

    async def get(self, age: Age, patience: float = 0.0) -> Listed:
        """All nodes as they were listed.

        Args:
            age: how long ago that may have been.
            patience: see Kept.

        Raises:
            LookUpError: they could not be listed.
        """
        return await self._kept.answer("", self._read, age, patience)

    async def anew(self) -> Listed:
        """As the list has them that is under way, or else a new one; raises as `get`."""
        return await self._kept.anew("", self._read)

    async def _read(self) -> tuple[Node, ...]:
        async with in_time(self._timeout):
            found = await self._source.see(ALL_NODES)
        return tuple([one for one in found if isinstance(one, Node)])


class NodePools:
    """All nodes as a pool, for whoever asks about many of them many times a second."""

    def __init__(
        self, nodes: AllNodes, systems: Sequence[System[Any]], clock: Clock, timeout: float
    ) -> None:
        """List nothing yet.

        Args:
            nodes: of the cluster.
            systems: that are asked about them.
            clock: for the age of a list.
            timeout: seconds for one pool, all lists that it takes together.
        """
        self._nodes = nodes
        self._systems = systems
        self._clock = clock
        self._timeout = timeout
        self._pools: Kept[NodePool] = Kept(clock, most=1)

    async def pool(self, names: Sequence[str] = ()) -> NodePool:
        """All nodes as they were about a second ago.

        Args:
            names: of some that are asked about; where one is not there, nodes are listed anew, as
                kube-scheduler hears of a node that comes before the next list does.

        Raises:
            LookUpError: they could not be listed.
        """
        async with in_time(self._timeout):
            now = self._clock.monotonic()
            listed = await self._nodes.get(_POOL)
            pool = await self._pool_of(listed)
            # One that is under way may have begun before.
            for _ in range(2):
                if listed.began >= now or all(name in pool for name in names):
                    break
                await asyncio.sleep(self._rest(listed))
                listed = await self._nodes.anew()
                pool = await self._pool_of(listed)
            return pool

    def _rest(self, listed: Listed) -> float:
        """Seconds until nodes may be listed before their time."""
        again = listed.began + listed.took + max(_PAUSE, listed.took)
        return max(0.0, again - self._clock.monotonic())

    async def _pool_of(self, listed: Listed) -> NodePool:
        """Made once for a list."""

        async def make() -> NodePool:
            return await in_thread(_pool_of, self._systems, listed.value)

        return await self._pools.get(listed, make, FOR_EVER)


def _pool_of(systems: Sequence[System[Any]], found: Sequence[Node]) -> NodePool:
    return NodePool(systems, map(as_served, found))
