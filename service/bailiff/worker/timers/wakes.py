"""Nodes that are to be looked at again though nothing changes, each at one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.worker.timers.queue import LONGEST_SLEEP, DeadlineQueue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from bailiff.clock import Clock

# Seconds: a system that says "from now on" would else be asked without end.
_SOONEST = 1.0


class Wakes:
    """By node. Instants are of the wall clock, so that one that is put right moves them all."""

    def __init__(self, clock: Clock) -> None:
        """Start without any."""
        self._clock = clock
        # By POSIX second.
        self._timers: DeadlineQueue[str] = DeadlineQueue()

    def set(self, node: str, at: datetime | None) -> None:
        """Look at a node at this instant, in place of any before; None: at none."""
        if at is None:
            self._timers.cancel(node)
        else:
            self._timers.put(node, max(at.timestamp(), self._now() + _SOONEST))

    def set_sooner(self, node: str, at: datetime | None) -> None:
        """Look at a node at this instant, unless it is looked at before anyway."""
        if at is not None:
            before = self._timers.rank(node)
            if before is None or at.timestamp() < before:
                self.set(node, at)

    def take_due(self) -> Iterator[str]:
        """The nodes that are to be looked at now; they have no instant any more."""
        if self._timers:
            now = self._now()
            while (node := self._timers.pop_due(now)) is not None:
                yield node

    def wait(self) -> float | None:
        """Seconds until somebody should ask again; None: nobody need."""
        due = self._timers.next_due()
        return None if due is None else min(max(0.0, due - self._now()), LONGEST_SLEEP)

    def _now(self) -> float:
        return self._clock.now().timestamp()
