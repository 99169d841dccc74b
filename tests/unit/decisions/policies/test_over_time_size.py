"""Counts that one budget keeps, and which budgets could hold more than there is room for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bailiff.decisions.policies import (
    OpenBook,
    OverTime,
    OverTimeBudget,
    Per,
    Wish,
    counted,
    crowding,
)
from bailiff.decisions.policies.over_time import Place
from bailiff.decisions.policies.over_time_counts import MOST_APART

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
NAMESPACES = 4
EACH = MOST_APART // NAMESPACES


def place(budget: str, key: str, per: Per = Per.NAMESPACE) -> Place:
    return Place(budget, key, 10_000, 3600, per)


def full(per: Per = Per.NAMESPACE) -> OpenBook:
    wishes = [
        Wish(f"{number}-{pod}", (place("apart", f"ns-{number}", per),))
        for number in range(NAMESPACES)
        for pod in range(EACH)
    ]
    return OpenBook(counted({}, wishes, NOW), LATER)


def test_a_budget_that_counts_apart_is_full_one_day_and_keeps_no_other_from_counting() -> None:
    book = full()
    hold = book.ask([Wish("new", (place("apart", "ns-9"),))])
    assert hold is not None
    assert hold.message.endswith("keeps 8000 counts in all, and has 8000")
    assert book.ask([Wish("0-1", (place("apart", "ns-0"),))]) is None
    assert book.ask([Wish("new", (place("other", "ns-9"),))]) is None


def test_what_no_longer_counts_is_no_crowd() -> None:
    over = NOW + timedelta(hours=2)
    assert OpenBook(full().closed(), over).ask([Wish("new", (place("apart", "n"),))]) is None


def test_one_that_counts_all_together_is_bounded_by_its_evictions() -> None:
    cluster = place("apart", "", Per.CLUSTER)
    assert full(Per.CLUSTER).ask([Wish("new", (cluster,))]) is None


@pytest.mark.parametrize(
    ("budgets", "warned"),
    [
        ([(10_000, Per.CLUSTER)], 0),
        ([(10_000, Per.CLUSTER), (6000, Per.CLUSTER)], 0),
        ([(10_000, Per.CLUSTER), (6001, Per.CLUSTER)], 1),
        ([(400, Per.NAMESPACE)], 0),
        ([(401, Per.NAMESPACE), (1000, Per.NODE)], 2),
    ],
)
def test_what_could_be_more_than_is_kept_is_warned_of(
    budgets: list[tuple[int, Per]], warned: int
) -> None:
    made = [
        OverTimeBudget(name=f"b{number}", evictions=evictions, seconds=60, per=per)
        for number, (evictions, per) in enumerate(budgets)
    ]
    assert len(list(crowding(OverTime(budgets=tuple(made))))) == warned


def test_what_one_of_a_gang_was_counted_for_seconds_ago_is_not_gone_through_again() -> None:
    gang = [Wish(pod, (place("b", "ns"),)) for pod in "abc"]
    book = OpenBook(counted({}, gang, NOW), LATER)
    book.ask(gang[:1])
    assert book.changes == 1
    assert book.ask(gang) is None
    assert book.changes == 1
