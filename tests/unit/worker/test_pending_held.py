"""Pending evictions that policies hold back, who is told of them, and how many wait for what."""

from __future__ import annotations

from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.timers.waits import Waits
from tests.harness.eviction_table import HOLD, Table, held, retried


def test_one_that_is_held_waits_without_a_timer_until_it_is_let_go():
    table = Table(watched=True)
    eviction = held(table)
    assert (table.counts(), eviction.attempts) == ({"held": 1}, 0)
    assert (table.pending.next_due(), table.pending.hand_over()) == (None, None)
    assert table.pending.begin(eviction) is eviction
    assert (table.counts(), eviction.attempts) == ({"running": 1}, 1)


def test_one_that_is_released_is_due_once_more():
    table = Table()
    eviction = held(table)
    table.pending.release(eviction)
    assert (table.counts(), table.pending.next_due()) == ({"waiting": 1}, 10)
    assert +table.pending.retrying == {}
    assert table.pending.hand_over() is eviction


def test_a_retry_that_was_held_and_is_released_is_counted_as_before():
    table = Table()
    eviction = retried(table)
    table.clock.advance(5)
    assert table.pending.hand_over() is eviction
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
