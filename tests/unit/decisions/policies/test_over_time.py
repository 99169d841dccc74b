"""Budgets over time: who is counted where, never more than N in any span, and the book's text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.policies import (
    EMPTY_BOOK,
    UNKNOWN,
    Book,
    Cause,
    Circumstances,
    Gang,
    Hold,
    LabelSelector,
    OpenBook,
    OverTime,
    OverTimeBudget,
    Per,
    Policies,
    Unreadable,
    counted,
    hold,
    read_book,
    wishes_of,
    write_book,
)
from bailiff.decisions.policies.over_time_columns import MARGIN
from bailiff.kinds import LABELS_NOT_KEPT, Pod
from tests.harness.kinds import pod_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
SPAN = timedelta(seconds=60 + MARGIN)
BUDGET = OverTimeBudget(name="two", evictions=2, seconds=60)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def pod(name: str, node: str = "n1", **meta: Any) -> Pod:
    return pod_of(name, node, uid=f"uid-{name}", **{"namespace": "shop", **meta})


def asks(name: str, zone: str = "", **meta: Any) -> Circumstances:
    return Circumstances(pod=pod(name, **meta), zone=zone, pause=None, gang=None)


def over_time(*budgets: OverTimeBudget, **settings: Any) -> OverTime:
    return OverTime(budgets=budgets or (BUDGET,), **settings)


def let_go(book: Book, facts: Circumstances, now: datetime, settings: OverTime) -> Book | Hold:
    """What a store does: look, then count."""
    wishes = wishes_of(facts, settings)
    assert not isinstance(wishes, Hold)
    opened = OpenBook(book, now)
    return opened.ask(wishes) or opened.closed()


def after_all(names: str, settings: OverTime, book: Book = EMPTY_BOOK) -> Book:
    for number, name in enumerate(names):
        found = let_go(book, asks(name), after(number), settings)
        assert not isinstance(found, Hold)
        book = found
    return book


def test_the_third_waits_until_the_first_is_over() -> None:
    settings = over_time()
    found = let_go(after_all("ab", settings), asks("c"), after(2), settings)
    assert isinstance(found, Hold)
    assert (found.cause, found.until) == (Cause.OVER_TIME, NOW + SPAN)
    assert found.message == (
        "budget two (2 evictions in 60 s) is used up until 2026-01-31T12:01:58Z"
    )


def test_at_the_instant_told_it_may_go_and_not_a_millisecond_before() -> None:
    settings = over_time()
    book = after_all("ab", settings)
    for millis, may in ((-1, False), (0, True)):
        at = NOW + SPAN + timedelta(milliseconds=millis)
        assert isinstance(let_go(book, asks("c"), at, settings), Hold) is not may


def test_who_is_counted_already_takes_no_second_place_and_moves_to_now() -> None:
    settings = over_time()
    book = after_all("ab", settings)
    again = let_go(book, asks("a"), after(30), settings)
    assert not isinstance(again, Hold)
    late = let_go(again, asks("c"), after(31), settings)
    # Of a the eviction of second 30 may be the one that came about.
    assert isinstance(late, Hold)
    assert late.until == after(1) + SPAN


NEW = OverTimeBudget(name="new", evictions=1, seconds=600)
BOTH = over_time(BUDGET, NEW)


def test_who_is_counted_takes_a_place_in_a_budget_that_came_since() -> None:
    book = let_go(after_all("a", over_time()), asks("a"), after(1), BOTH)
    assert not isinstance(book, Hold)
    assert [len(sheet.columns[""].by_pod) for sheet in book.values()] == [1, 1]


def test_who_is_counted_is_held_by_a_budget_that_came_since_and_is_full() -> None:
    book = after_all("x", over_time(NEW), after_all("a", over_time()))
    found = let_go(book, asks("a"), after(1), BOTH)
    assert isinstance(found, Hold)
    assert "budget new" in found.message


@pytest.mark.parametrize(
    ("per", "other", "is_apart"),
    [
        (Per.CLUSTER, asks("c", namespace="ops", node="n2", zone="z2"), False),
        (Per.NAMESPACE, asks("c", namespace="ops"), True),
        (Per.NAMESPACE, asks("c", node="n2", zone="z2"), False),
        (Per.NODE, asks("c", node="n2"), True),
        (Per.NODE, asks("c", namespace="ops", zone="z2"), False),
        (Per.ZONE, asks("c", zone="z2"), True),
        (Per.ZONE, asks("c", namespace="ops", node="n2"), False),
    ],
)
def test_what_is_counted_apart(per: Per, other: Circumstances, is_apart: bool) -> None:
    settings = over_time(replace(BUDGET, per=per))
    found = let_go(after_all("ab", settings), other, after(2), settings)
    assert isinstance(found, Hold) is not is_apart


@pytest.mark.parametrize(
    ("budget", "is_counted"),
    [
        (replace(BUDGET, namespaces=("shop",)), True),
        (replace(BUDGET, namespaces=("ops",)), False),
        (replace(BUDGET, pod_selector=LabelSelector(match_labels={"app": "web"})), True),
        (replace(BUDGET, pod_selector=LabelSelector(match_labels={"app": "db"})), False),
    ],
)
def test_whom_a_budget_counts(budget: OverTimeBudget, is_counted: bool) -> None:
    settings = over_time(budget)
    book = let_go(EMPTY_BOOK, asks("a", labels={"app": "web"}), NOW, settings)
    assert bool(book) is is_counted


def test_of_several_budgets_the_one_is_told_that_holds_longest() -> None:
    slow = OverTimeBudget(name="slow", evictions=2, seconds=600)
    settings = over_time(BUDGET, slow)
    found = let_go(after_all("ab", settings), asks("c"), after(2), settings)
    assert isinstance(found, Hold)
    assert "budget slow" in found.message


def test_a_gang_is_counted_whole_or_not_at_all() -> None:
    settings = over_time(replace(BUDGET, evictions=3))
    gang = replace(asks("a"), gang=Gang(name="shop/g", others=(asks("b"), asks("c"))))
    book = let_go(EMPTY_BOOK, gang, NOW, settings)
    assert not isinstance(book, Hold)
    assert [len(column.by_pod) for column in book["two"].columns.values()] == [3]
    late = let_go(after_all("x", settings), gang, after(1), settings)
    assert isinstance(late, Hold)
    assert late.until == NOW + SPAN


def test_what_has_come_in_the_place_of_one_that_went_does_not_keep_the_rest_of_its_gang() -> None:
    settings = over_time(replace(BUDGET, evictions=3))
    gang = replace(asks("a"), gang=Gang(name="shop/g", others=(asks("b"), asks("c"))))
    book = let_go(EMPTY_BOOK, gang, NOW, settings)
    assert not isinstance(book, Hold)
    rest = replace(asks("b"), gang=Gang(name="shop/g", others=(asks("c"), asks("a2"))))
    book = let_go(book, rest, after(20), settings)
    assert not isinstance(book, Hold)
    new = replace(asks("a2"), gang=Gang(name="shop/g", others=(asks("c"),)))
    assert isinstance(let_go(book, new, after(21), settings), Hold)


def test_who_asks_again_within_seconds_is_not_written_anew() -> None:
    wishes = wishes_of(asks("a"), over_time())
    assert not isinstance(wishes, Hold)
    book = OpenBook(EMPTY_BOOK, NOW)
    assert book.ask(wishes) is None
    assert book.is_changed
    again = OpenBook(book.closed(), after(4))
    assert again.ask(wishes) is None
    assert not again.is_changed
    later = OpenBook(again.closed(), after(6))
    assert later.ask(wishes) is None
    assert later.is_changed
    assert [column.instants for column in later.closed()["two"].columns.values()] == [
        (round(after(6).timestamp() * 1000),)
    ]


def test_a_gang_of_more_than_the_budget_ever_lets_go_is_told_so() -> None:
    gang = replace(asks("a"), gang=Gang(name="shop/g", others=(asks("b"), asks("c"))))
    found = let_go(EMPTY_BOOK, gang, NOW, over_time())
    assert isinstance(found, Hold)
    assert found.until is None
    assert "never lets so many go" in found.message


def test_what_is_not_known_holds_unless_the_setting_lets_it_go() -> None:
    facts = asks("a")
    refusing, allowing = (Policies(over_time=over_time(unreadable=one)) for one in Unreadable)
    found = hold(facts, refusing, NOW)
    assert found is not None
    assert "kube-system/bailiff-evictions" in found.message
    assert hold(facts, allowing, NOW) is None
    assert hold(replace(facts, book=EMPTY_BOOK), refusing, NOW) is None


def test_labels_that_are_not_known_hold_where_a_budget_selects_by_them() -> None:
    by_label = over_time(replace(BUDGET, pod_selector=LabelSelector()))
    facts = replace(asks("a", labels=LABELS_NOT_KEPT), book=EMPTY_BOOK)
    assert hold(facts, Policies(over_time=over_time()), NOW) is None
    found = hold(facts, Policies(over_time=by_label), NOW)
    assert found is not None
    assert "labels" in found.message
    assert wishes_of(facts, by_label) == found, "nobody takes it for nothing to count"


def test_what_can_never_go_is_told_before_what_waits() -> None:
    slow = OverTimeBudget(name="slow", evictions=2, seconds=600)
    settings = over_time(replace(BUDGET, evictions=1), slow)
    gang = replace(asks("c"), gang=Gang(name="shop/g", others=(asks("d"),)))
    for book in (EMPTY_BOOK, after_all("a", settings)):
        found = let_go(book, gang, after(2), settings)
        assert isinstance(found, Hold)
        assert found.for_good
        assert "budget two (1 evictions in 60 s) never lets so many go" in found.message
    waits = let_go(after_all("a", settings), asks("c"), after(2), settings)
    assert isinstance(waits, Hold)
    assert not waits.for_good


def test_whom_no_budget_counts_needs_no_book() -> None:
    elsewhere = over_time(replace(BUDGET, namespaces=("ops",)))
    assert hold(replace(asks("a"), book=UNKNOWN), Policies(over_time=elsewhere), NOW) is None


TRIES = st.lists(
    st.tuples(
        st.floats(0, 40),  # seconds since the last try
        st.sampled_from("abcdefghij"),
        st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]),  # how far the clock of the replica is off
        st.booleans(),  # whether what came after the gate let the pod go
    ),
    max_size=60,
)


@given(TRIES)
def test_never_more_than_the_budget_goes_in_any_span(
    tries: list[tuple[float, str, float, bool]],
) -> None:
    settings, book, elapsed = over_time(), EMPTY_BOOK, 0.0
    gone: list[float] = []
    left = set("abcdefghij")
    for seconds, name, skew, goes in tries:
        elapsed += seconds
        if name not in left:
            continue
        found = let_go(read_book(write_book(book)), asks(name), after(elapsed + skew), settings)
        if isinstance(found, Hold):
            continue
        book = found
        if goes:
            gone.append(elapsed)
            left.discard(name)
    for first in gone:
        assert sum(first <= at < first + BUDGET.seconds for at in gone) <= BUDGET.most


def test_what_is_over_is_dropped_with_the_next_write() -> None:
    settings = over_time(replace(BUDGET, per=Per.NODE))
    book = after_all("a", settings)
    found = let_go(book, asks("b", node="n2"), NOW + SPAN, settings)
    assert not isinstance(found, Hold)
    assert list(found["two"].columns) == ["n2"]


def test_what_another_budget_has_counted_is_kept_for_its_own_span() -> None:
    other = over_time(OverTimeBudget(name="other", evictions=1, seconds=600))
    book = after_all("a", other)
    assert set(after_all("b", over_time(), book)) == {"other", "two"}
    late = counted(book, (), NOW + timedelta(seconds=601 + MARGIN))
    assert late == EMPTY_BOOK
