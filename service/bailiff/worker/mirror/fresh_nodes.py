"""Nodes as they are now, for evictions that are due while the mirror may be out of date.

A taint that was taken away a moment ago must not evict anybody, and of that the mirror learns by
its watch of nodes. Where the watch is not known to be live, a due eviction reads its node itself;
where that fails too, it is not carried out.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from bailiff.cluster import ClusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.clock import Clock
    from bailiff.cluster import WatchHealth
    from bailiff.kinds import Node

# Seconds without a word after which a watch may be dead: a half-open connection stays silent.
_SILENT = 10.0
# One read of a node serves all evictions of that node for so many seconds.
_SHARED = 1.0
# After a machine has slept, what it hears first may be what was sent long ago. A connection that
# did not outlive the sleep is known to be dead by then (ClusterSettings.watch_idle_timeout).
_DROWSY = 90.0
# Seconds by which two clocks that tick alike may be read apart.
_READING = 0.5
# Of how many nodes a read is kept before old ones are looked for and dropped.
_SWEEP_ABOVE = 1024


class _Look:
    """The last read of one node."""

    __slots__ = ("at", "error", "lock", "node")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.at = -math.inf
        self.node: Node | None = None
        self.error: ClusterError | None = None


class FreshNodes:
    """Reads a node at most once a second, and only where its watch may be behind."""

    def __init__(self, clock: Clock) -> None:
        """Trust the mirror, until `follow` says by which watch it is fed."""
        self._clock = clock
        self._health: WatchHealth | None = None
        self._source: Callable[[str], Awaitable[Node]] | None = None
        self._looks: dict[str, _Look] = {}
        self._slept = clock.elapsed() - clock.monotonic()
        self._drowsy_until = -math.inf

    def follow(self, health: WatchHealth, source: Callable[[str], Awaitable[Node]]) -> None:
        """From now on ask.

        Args:
            health: of the watch that feeds the mirror's nodes.
            source: reads one node by name, from the API server; raises ClusterError.
        """
        self._health, self._source = health, source

    async def read(self, name: str) -> Node | None:
        """The node as it is, or was a second ago; None where the mirror has it as it is.

        Raises:
            ClusterError: it could not be read, or is not there any more.
        """
        if self._source is None or self._is_live():
            return None
        self._sweep()
        # However long one waits for the look of another: it must not have begun before this.
        not_before = self._clock.elapsed() - _SHARED
        look = self._looks.setdefault(name, _Look())
        async with look.lock:
            if look.at <= not_before:
                await self._look(look, self._source(name))
            if look.error is not None:
                raise look.error.with_traceback(None)
            return look.node

    async def _look(self, look: _Look, reading: Awaitable[Node]) -> None:
        look.node = look.error = None
        look.at = self._clock.elapsed()
        try:
            look.node = await reading
        except ClusterError as error:
            look.error = error

    def _is_live(self) -> bool:
        health, now = self._health, self._clock.monotonic()
        if health is None or self._is_drowsy(now):
            return False
        heard = health.last_contact is not None and now - health.last_contact <= _SILENT
        return health.connected and health.synced and heard

    def _is_drowsy(self, now: float) -> bool:
        """Whether the machine has slept lately: time has elapsed that the loop did not see."""
        slept = self._clock.elapsed() - now
        if slept - self._slept > _READING:
            self._drowsy_until = now + _DROWSY
        self._slept = slept
        return now < self._drowsy_until

    def _sweep(self) -> None:
        if len(self._looks) > _SWEEP_ABOVE:
            old = self._clock.elapsed() - _SHARED
            kept = {n: one for n, one in self._looks.items() if one.lock.locked() or one.at > old}
            self._looks = kept
