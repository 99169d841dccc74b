"""The table of evictions: each state, what happens to it, when its turn comes, and what is counted.

By the module's own table of states; times by a clock that each test moves.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions import Finding, Verdict
from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.eviction import Eviction, State
from bailiff.worker.pending import PendingEvictions
from bailiff.worker.waits import Waits
from tests.harness.clocks import START, ManualClock
from tests.harness.kinds import pod_of

if TYPE_CHECKING:
    from bailiff.kinds import Pod

HOLD = Hold(cause=Cause.PAUSED, message="paused")


class SteppedClock(ManualClock):
    """Its wall clock may be stepped."""

    step = timedelta()

    def now(self) -> datetime:
        return super().now() + self.step


class Table:
    """A table of evictions at second 0 by both clocks, and what it tells.

    Attributes:
        woken: how often it has said that its first timer is earlier now.
        told: what it has told a watcher, where one is set.
    """

    def __init__(self, *, watched: bool = False) -> None:
        self.clock = SteppedClock()
        self.woken = 0
        self.told: list[str] = []
        self.pending = PendingEvictions(self.clock, self._wake)
        if watched:
            self.pending.watcher = self

    def _wake(self) -> None:
        self.woken += 1

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
        finding = Finding("node-taints", verdict, "r", "m", evict_at=at)
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
    eviction = table.pending.hold()
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


STATES = (waiting, retried, held, running, done, on_paper)


@pytest.mark.parametrize(
    ("begin", "after_revoke", "after_forget"),
    [
        (waiting, {}, {}),
        (retried, {}, {}),
        (held, {}, {}),
        (running, {"running": 1}, {"running": 1}),
        (done, {"done": 1}, {}),
        (on_paper, {"done": 1}, {}),
    ],
)
def test_what_revoke_and_forget_do(begin, after_revoke, after_forget):
    table = Table()
    eviction = begin(table)
    revoked = table.pending.revoke("a", "why")
    assert (revoked is eviction) is (after_revoke == {})
    assert eviction.revoked == ("why" if begin is running else "")
    assert table.counts() == after_revoke
    other = Table()
    begin(other)
    other.pending.forget("a")
    assert other.counts() == after_forget
    for one, left in ((table, after_revoke), (other, after_forget)):
        if not left:
            assert one.pending.next_due() is None
            assert one.pending.retrying.total() == 0


def test_who_is_not_there_is_revoked_and_forgotten_without_a_word():
    table = Table()
    assert table.pending.revoke("a", "why") is None
    table.pending.forget("a")
    assert (table.pending.get("a"), len(table.pending)) == (None, 0)


@pytest.mark.parametrize("begin", STATES)
@pytest.mark.parametrize("seconds", [10, 20], ids=["the same deadline", "another deadline"])
def test_what_schedule_does(begin, seconds):
    table = Table()
    eviction = begin(table)
    before = table.counts()
    newer = replace(eviction.pod, spec=replace(eviction.pod.spec, priority=1))
    table.schedule(seconds, pod=newer)
    anew = seconds == 20 and begin in (waiting, retried, held)
    assert (table.entry() is not eviction) is anew
    assert table.counts() == ({"waiting": 1} if anew else before)
    assert table.entry().pod is newer
    assert table.entry().finding.evict_at == START + timedelta(seconds=seconds)
    assert len(table.pending) == 1
    if anew:
        assert table.pending.next_due() == 20
        assert table.pending.retrying.total() == 0


def test_one_that_is_wanted_again_while_it_runs_is_tried_again():
    for undo in ("revoke", "forget"):
        table = Table()
        eviction = table.running()
        table.pending.revoke("a", "why") if undo == "revoke" else table.pending.forget("a")
        table.schedule()
        assert table.pending.settle_retry(eviction, "denied", 5.0)
        assert table.counts() == {"waiting": 1}


@pytest.mark.parametrize("undo", ["revoke", "forget"])
@pytest.mark.parametrize("settle", ["retry", "put off"])
def test_one_that_is_no_longer_wanted_is_not_tried_again(undo, settle):
    table = Table()
    eviction = table.running()
    table.pending.revoke("a", "why") if undo == "revoke" else table.pending.forget("a")
    if settle == "retry":
        assert not table.pending.settle_retry(eviction, "denied", 5.0)
    else:
        assert not table.pending.settle_put_off(eviction)
    assert (table.counts(), table.pending.next_due()) == ({}, None)
    assert table.pending.retrying.total() == 0


def test_one_that_is_over_and_has_left_the_mirror_is_forgotten():
    table = Table()
    eviction = table.running()
    table.pending.forget("a")
    table.pending.settle_over(eviction, "deleted", 5.0)
    assert (table.counts(), table.pending.next_due()) == ({}, None)
    assert eviction.outcome == "deleted"


def test_one_whose_pod_may_stay_is_dropped():
    table = Table()
    table.pending.settle_dropped(table.running())
    assert table.counts() == {}


# When its turn comes.


def test_nothing_is_taken_before_it_is_due_and_then_once():
    table = Table()
    table.schedule(10)
    assert (table.pending.next_due(), table.woken) == (10, 1)
    table.clock.advance(9.999)
    assert table.pending.take() is None
    table.clock.advance(0.001)
    taken = table.pending.take()
    assert taken is not None
    assert (taken.state, taken.attempts, taken.outcome) == (State.RUNNING, 1, "")
    assert table.pending.take() is None
    assert table.pending.next_due() is None


def test_without_a_deadline_it_is_due_at_once():
    table = Table()
    table.clock.advance(7)
    table.schedule(None)
    assert (table.entry().deadline, table.entry().due) == (table.clock.now(), 7)
    assert table.pending.take() is table.entry()


def test_one_that_is_overdue_counts_from_its_deadline():
    table = Table()
    table.clock.advance(100)
    table.schedule(10)
    assert table.entry().due == 10
    assert table.pending.next_due() == 10


@pytest.mark.parametrize("step", [-3600, 3600])
def test_a_deadline_moves_with_the_wall_clock_and_a_retry_does_not(step):
    table = Table()
    table.schedule(5000, "deadline")
    eviction = table.running()
    table.pending.settle_retry(eviction, "denied", 500.0)
    table.clock.step = timedelta(seconds=step)
    assert table.pending.next_due() == min(5000 - step, 510)
    table.clock.advance(5000 - step - 10)
    taken = [table.pending.take(), table.pending.take()]
    assert {one.uid for one in taken if one} == {"deadline", "a"}
    assert table.entry("deadline").due == 5000 - step


def test_the_one_that_has_been_due_for_longest_goes_first():
    table = Table()
    eviction = table.running()
    table.pending.settle_retry(eviction, "denied", 5.0)
    for seconds, name in ((14, "before"), (16, "after"), (15, "at once")):
        table.schedule(seconds, name)
    assert table.pending.next_due() == 14
    table.clock.advance(20)
    order = [one.uid for one in iter(table.pending.take, None) if one]
    assert order == ["before", "at once", "a", "after"]


def test_of_several_retries_the_first_is_told():
    table = Table()
    retry = table.running()
    table.pending.settle_retry(retry, "denied", 5.0)
    assert table.pending.next_due() == 15
    table.schedule(30, "later")
    assert table.pending.next_due() == 15
    table.schedule(12, "sooner")
    assert table.pending.next_due() == 12


def test_who_sleeps_is_woken_where_the_first_timer_is_earlier_and_only_then():
    table = Table()
    for name, seconds, woken in (("a", 10, 1), ("b", 20, 1), ("c", 10, 1), ("d", 9, 2)):
        table.schedule(seconds, name)
        assert table.woken == woken


def test_each_attempt_is_counted():
    table = Table()
    eviction = table.running()
    for attempt in (1, 2, 3):
        assert eviction.attempts == attempt
        table.pending.settle_retry(eviction, "denied", 5.0)
        table.clock.advance(5)
        assert table.pending.take() is eviction


def test_one_that_is_put_off_waits_for_its_deadline():
    table = Table()
    eviction = retried(table)
    table.clock.advance(5)
    assert table.pending.take() is eviction
    table.clock.advance(-6)
    assert table.pending.settle_put_off(eviction)
    assert (table.counts(), table.pending.next_due()) == ({"waiting": 1}, 10)
    assert table.pending.retrying.total() == 0
    table.clock.advance(1)
    assert table.pending.take() is eviction


def test_what_a_retry_waits_for_is_counted_by_what_the_last_try_came_to():
    table = Table()
    eviction = retried(table)
    assert (+table.pending.retrying, eviction.outcome) == ({"denied": 1}, "denied")
    table.clock.advance(5)
    table.pending.take()
    assert +table.pending.retrying == {}
    table.pending.settle_retry(eviction, "conflict", 5.0)
    assert +table.pending.retrying == {"conflict": 1}
    table.schedule(15, "other")
    other = table.pending.take()
    assert other is table.entry("other")
    table.pending.settle_retry(other, "conflict", 5.0)
    assert +table.pending.retrying == {"conflict": 2}


def test_done_lapses_where_the_pod_lives_on():
    table = Table()
    eviction = done(table)
    assert (table.counts(), table.pending.next_due()) == ({"done": 1}, 15)
    table.clock.advance(4.9)
    assert table.pending.take() is None
    table.clock.advance(0.1)
    assert table.pending.take() is eviction
    assert (eviction.outcome, table.counts()) == ("survived", {"running": 1})
    assert table.pending.retrying.total() == 0


def test_on_paper_it_is_done_for_good():
    table = Table()
    on_paper(table)
    table.clock.advance(1e6)
    assert (table.pending.next_due(), table.pending.take()) == (None, None)


# News of a pod that an attempt waits for.


@pytest.mark.parametrize(
    ("until_news", "changed", "due"), [(True, True, 12), (True, False, 15), (False, True, 15)]
)
def test_one_that_waits_for_news_goes_when_its_pod_has_changed(until_news, changed, due):
    table = Table()
    eviction = table.running()
    table.pending.settle_retry(eviction, "conflict", 5.0, until_news=until_news)
    table.clock.advance(2)
    pod = replace(eviction.pod, spec=replace(eviction.pod.spec, priority=int(changed)))
    table.schedule(10, pod=pod)
    assert table.pending.next_due() == due
    assert +table.pending.retrying == {"conflict": 1}


def test_one_that_waits_for_its_time_goes_no_earlier_for_news():
    table = Table()
    eviction = retried(table)
    table.schedule(10, pod=replace(eviction.pod, spec=replace(eviction.pod.spec, priority=1)))
    assert table.pending.next_due() == 15


def test_one_that_heard_news_does_not_wait_for_more():
    table = Table()
    eviction = table.running()
    table.pending.settle_retry(eviction, "conflict", 5.0, until_news=True)
    for priority in (1, 2):
        table.clock.advance(1)
        pod = replace(eviction.pod, spec=replace(eviction.pod.spec, priority=priority))
        table.schedule(10, pod=pod)
    assert table.pending.next_due() == 11
    table.pending.settle_retry(table.pending.take(), "conflict", 5.0, until_news=True)
    table.clock.advance(5)
    assert table.pending.take() is eviction
    table.pending.settle_retry(eviction, "denied", 5.0)
    table.schedule(10, pod=pod_of("a", "n2", uid="a"))
    assert table.pending.next_due() == table.clock.elapsed() + 5


# Held by policies.


def test_one_that_is_held_waits_without_a_timer_until_it_is_let_go():
    table = Table(watched=True)
    eviction = held(table)
    assert (table.counts(), eviction.attempts) == ({"held": 1}, 0)
    assert (table.pending.next_due(), table.pending.hold()) == (None, None)
    assert table.pending.begin(eviction) is eviction
    assert (table.counts(), eviction.attempts) == ({"running": 1}, 1)


def test_one_that_is_released_is_due_once_more():
    table = Table()
    eviction = held(table)
    table.pending.release(eviction)
    assert (table.counts(), table.pending.next_due()) == ({"waiting": 1}, 10)
    assert +table.pending.retrying == {}
    assert table.pending.hold() is eviction


def test_a_retry_that_was_held_and_is_released_is_counted_as_before():
    table = Table()
    eviction = retried(table)
    table.clock.advance(5)
    assert table.pending.hold() is eviction
    assert +table.pending.retrying == {}
    table.pending.release(eviction)
    assert +table.pending.retrying == {"denied": 1}
    assert table.pending.next_due() == 15


def test_a_watcher_is_told_who_enters_changes_and_leaves():
    table = Table(watched=True)
    held(table)
    table.schedule(10)
    table.schedule(20)
    table.pending.forget("a")
    assert table.told == [
        *("entered a", "entered a", "look again a"),
        *("left a held", "entered a", "left a waiting"),
    ]
    assert table.counts() == {}


def test_one_that_only_waits_is_not_looked_at_again():
    table = Table(watched=True)
    table.schedule(10)
    table.schedule(10)
    assert table.told == ["entered a", "entered a"]


def test_what_holds_one_back_is_asked_of_who_holds_it():
    table = Table(watched=True)
    eviction = held(table)
    assert table.pending.held_by(eviction) is HOLD
    table.pending.begin(eviction)
    assert table.pending.held_by(eviction) is None
    budget = Hold(cause=Cause.BUDGET, message="b")
    eviction.waits = Waits()
    eviction.waits.begin(budget, 10)
    assert table.pending.held_by(eviction) is budget
    table.pending.watcher = None
    assert table.pending.held_by(eviction) is budget


def test_how_many_wait_for_their_time_and_how_many_for_a_free_hand():
    table = Table()
    for seconds in (5, 10, 15):
        table.schedule(seconds, f"due at {seconds}")
    table.clock.advance(10)
    assert table.pending.count_timers() == (1, 2)
    table.pending.take()
    assert table.pending.count_timers() == (1, 1)
    assert len(list(table.pending)) == len(table.pending) == 3
