"""When the turn of a pending eviction comes: by its deadline, its next try, or news of its pod."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.worker.timers.states import State
from tests.harness.eviction_table import Table, done, on_paper, retried
from tests.harness.kinds import pod_of


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


def test_one_that_is_taken_late_has_been_due_since_its_deadline():
    table = Table()
    table.schedule(10)
    table.clock.advance(17)
    assert table.take().due == 10


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
    order = [one.uid for one in iter(table.pending.take, None)]
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
    other = table.take()
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
    table.pending.settle_retry(table.take(), "conflict", 5.0, until_news=True)
    table.clock.advance(5)
    assert table.pending.take() is eviction
    table.pending.settle_retry(eviction, "denied", 5.0)
    table.schedule(10, pod=pod_of("a", "n2", uid="a"))
    assert table.pending.next_due() == table.clock.elapsed() + 5
