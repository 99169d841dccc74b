"""A table of pending evictions on a clock that a test moves, and entries in each of its states."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from bailiff.decisions import Verdict
from bailiff.decisions.node_taints.findings import NodeTaintEviction
from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.pending import PendingEvictions
from bailiff.worker.timers.states import State
from tests.harness.clocks import START, ManualClock
from tests.harness.kinds import pod_of

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.worker.gate import Gate

HOLD = Hold(cause=Cause.PAUSED, message="paused")


class SteppedClock(ManualClock):
    """Its wall clock may be stepped."""

    step = timedelta()

    def now(self) -> datetime:
        return super().now() + self.step


class Rings(asyncio.Event):
    """Counts how often it is set."""

    times = 0

    def set(self) -> None:
        self.times += 1


class Table:
    """A table of evictions at second 0 by both clocks, and what it tells.

    Attributes:
        woken: how often it has said that its first timer is earlier now.
        told: what it has told a watcher, where one is set.
    """

    def __init__(self, *, watched: bool = False) -> None:
        self.clock = SteppedClock()
        self.earlier = Rings()
        self.told: list[str] = []
        self.pending = PendingEvictions(self.clock, self.earlier)
        if watched:
            self.pending.watcher = cast("Gate", self)

    @property
    def woken(self) -> int:
        return self.earlier.times

    def entered(self, eviction: Eviction) -> None:
        self.told.append(f"entered {eviction.uid}")

    def left(self, eviction: Eviction) -> None:
        self.told.append(f"left {eviction.uid} {eviction.state.value}")

    def look_again(self, eviction: Eviction) -> None:
        self.told.append(f"look again {eviction.uid}")

    def hold(self, eviction: Eviction) -> Hold | None:
        assert eviction.state is State.HELD
        return HOLD

    def schedule(self, seconds: float | None = 10, name: str = "a", pod: Pod | None = None) -> None:
        """The pod is to go in so many seconds from START; None: at once, since nobody knows."""
        at = None if seconds is None else START + timedelta(seconds=seconds)
        verdict = Verdict.EVICT_NOW if seconds is None else Verdict.EVICT_AT
        finding = NodeTaintEviction("node-taints", verdict, "r", "m", evict_at=at)
        self.pending.schedule(pod or pod_of(name, "n1", uid=name), finding)

    def entry(self, name: str = "a") -> Eviction:
        found = self.pending.get(name)
        assert found is not None
        return found

    def running(self) -> Eviction:
        """The entry, taken when it fell due at second 10."""
        self.schedule()
        self.clock.advance(10)
        taken = self.pending.take()
        assert taken is self.entry()
        return taken

    def take(self) -> Eviction:
        """One that is due."""
        taken = self.pending.take()
        assert taken is not None
        return taken

    def counts(self) -> dict[str, int]:
        """How many are in each state, without noughts; the states of all entries say the same."""
        counts = {state.value: self.pending.count(state) for state in State}
        for state in State:
            assert counts[state.value] == sum(one.state is state for one in self.pending)
        assert self.pending.unfinished == len(self.pending) - counts["done"]
        return {name: count for name, count in counts.items() if count}


def waiting(table: Table) -> Eviction:
    table.schedule()
    return table.entry()


def retried(table: Table) -> Eviction:
    eviction = table.running()
    assert table.pending.settle_retry(eviction, "denied", 5.0)
    return eviction


def held(table: Table) -> Eviction:
    table.schedule()
    table.clock.advance(10)
    eviction = table.pending.hand_over()
    assert eviction is table.entry()
    return eviction


def running(table: Table) -> Eviction:
    return table.running()


def done(table: Table) -> Eviction:
    eviction = table.running()
    table.pending.settle_over(eviction, "deleted", 5.0)
    return eviction


def on_paper(table: Table) -> Eviction:
    eviction = table.running()
    table.pending.settle_over(eviction, "deleted")
    return eviction
