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
from bailiff.decisions.policies.over_time_book import write_book
from bailiff.decisions.policies.over_time_counts import COLUMN_BYTES, EVICTION_BYTES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
NAMESPACES = 4
EACH = 2000
# What those fill.
FULL = NAMESPACES * (len("ns-0") + COLUMN_BYTES + EACH * EVICTION_BYTES)


def place(budget: str, key: str, per: Per = Per.NAMESPACE) -> Place:
    return Place(budget, key, 10_000, 3600, per, FULL)


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
    assert hold.message.endswith(
        f"has {NAMESPACES * EACH} counts in all, and its part of the ConfigMap, {FULL} bytes, "
        "holds no more"
    )
    assert book.ask([Wish("0-1", (place("apart", "ns-0"),))]) is None
    assert book.ask([Wish("new", (place("other", "ns-9"),))]) is None


def test_of_a_gang_those_that_are_counted_already_take_no_more_of_it() -> None:
    most = len("ns") + COLUMN_BYTES + 3 * EVICTION_BYTES
    last = Place("apart", "ns", 10, 3600, Per.NAMESPACE, most)
    gang = [Wish(pod, (last,)) for pod in "abc"]
    book = OpenBook(counted({}, gang[1:], NOW), LATER)
    assert book.ask(gang) is None
    assert book.ask([Wish("d", (last,))]) is not None


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
        ([(10_000, Per.CLUSTER), (6912, Per.CLUSTER)], 0),
        ([(10_000, Per.CLUSTER), (6913, Per.CLUSTER)], 1),
        ([(422, Per.NAMESPACE)], 0),
        ([(423, Per.NAMESPACE)], 1),
        ([(211, Per.NAMESPACE), (211, Per.NODE)], 0),
        ([(212, Per.NAMESPACE), (1000, Per.NODE)], 2),
        ([(10_000, Per.CLUSTER), (1, Per.NODE)], 1),
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


@pytest.mark.parametrize("budgets", [1, 3, 100])
@pytest.mark.parametrize("length", [5, 253])
def test_many_columns_of_many_budgets_fit_into_the_configmap(budgets: int, length: int) -> None:
    """Each budget in turn counts in new columns until it has no room; then the book is written."""
    names = [f"b{number}" for number in range(budgets)]
    made = [OverTimeBudget(name=name, evictions=1, seconds=60, per=Per.NODE) for name in names]
    share = OverTime(budgets=tuple(made)).bytes_apart
    columns = share // (length + COLUMN_BYTES + EVICTION_BYTES)
    assert columns > 0
    book = OpenBook({}, NOW)
    for name in names:
        for number in range(columns + 2):
            key = str(number).rjust(length, "n")
            wish = Wish(f"{number:016x}", (Place(name, key, 1, 60, Per.NODE, share),))
            book.ask([wish])
    counts = [len(sheet.columns) for sheet in book.closed().values()]
    assert min(counts) >= columns - 1
    write_book(book.closed())


def test_what_one_of_a_gang_was_counted_for_seconds_ago_is_not_gone_through_again() -> None:
    gang = [Wish(pod, (place("b", "ns"),)) for pod in "abc"]
    book = OpenBook(counted({}, gang, NOW), LATER)
    book.ask(gang[:1])
    assert book.changes == 1
    assert book.ask(gang) is None
    assert book.changes == 1
