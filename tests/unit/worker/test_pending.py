"""The table of evictions: what becomes of an entry in each of its states, and of their counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.harness.clocks import START
from tests.harness.eviction_table import Table, done, held, on_paper, retried, running, waiting

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


@pytest.mark.parametrize("begin", STATES)
def test_only_what_was_done_stays_while_its_pod_is_terminating(begin):
    table = Table()
    eviction = begin(table)
    unbegun = begin in (waiting, retried, held)
    assert (table.pending.leave(terminating(eviction)) is eviction) is unbegun
    after = {} if unbegun else table.counts()
    assert table.counts() == after
    assert (table.pending.next_due(), table.pending.retrying.total()) == (None, 0)
    table.pending.forget("a")
    assert table.counts() == ({"running": 1} if begin is running else {})


def test_one_whose_pod_is_terminating_is_over_until_it_is_gone():
    table = Table()
    eviction = table.running()
    table.pending.leave(terminating(eviction))
    table.pending.settle_over(eviction, "deleted", 5.0)
    assert (table.counts(), table.pending.next_due()) == ({"done": 1}, None)
    table.pending.forget("a")
    assert table.counts() == {}


def test_one_whose_pod_is_terminating_is_not_tried_again():
    table = Table()
    eviction = table.running()
    table.pending.leave(terminating(eviction))
    assert not table.pending.settle_retry(eviction, "denied", 5.0)
    assert table.counts() == {}


@pytest.mark.parametrize("seen", ["before", "after"])
def test_one_that_is_evicted_though_it_terminates_is_evicted_once(seen):
    """As `evict_ended_pods` has it: it is wanted as long as its pod is there."""
    table = Table()
    eviction = table.running()
    pod = terminating(eviction)
    if seen == "before":
        table.schedule(pod=pod)
    table.pending.settle_over(eviction, "deleted", 5.0)
    if seen == "after":
        table.schedule(pod=pod)
    assert (table.counts(), table.pending.next_due()) == ({"done": 1}, None)


def terminating(eviction):
    metadata = replace(eviction.pod.metadata, deletion_timestamp=START)
    return replace(eviction.pod, metadata=metadata)


def test_one_whose_pod_may_stay_is_dropped():
    table = Table()
    table.pending.settle_dropped(table.running())
    assert table.counts() == {}


def test_as_many_are_counted_as_there_are_in_a_state():
    table = Table()
    for name in "abcde":
        table.schedule(name=name)
    assert table.counts() == {"waiting": 5}
    table.clock.advance(10)
    for one in [table.take() for _ in range(3)][:2]:
        table.pending.settle_over(one, "deleted")
    assert table.counts() == {"waiting": 2, "running": 1, "done": 2}
