"""How much room a book has left, which may still hold what is over, or more than a budget lets go.

What is only looked at is not opened before: a dry run, and what holds whoever waits in the worker.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bailiff.decisions.policies import Book, Per, Wish, room_for
from bailiff.decisions.policies.over_time import Place
from bailiff.decisions.policies.over_time_columns import MARGIN, Column, Sheet
from bailiff.decisions.policies.over_time_counts import COLUMN_BYTES, EVICTION_BYTES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 60
SPAN = SECONDS + MARGIN
OVER = SPAN + 1
# As long as two evictions in a column of this key.
KEY = "k"
TWO = len(KEY) + COLUMN_BYTES + 2 * EVICTION_BYTES


def column(**ages: float) -> Column:
    """Pods that were counted so many seconds ago."""
    now = round(NOW.timestamp() * 1000)
    return Column.of({pod: now - round(age * 1000) for pod, age in ages.items()})


def book(**columns: Column) -> Book:
    """What the budget `b` has counted, by its keys; `all` where it counts all together."""
    return {"b": Sheet(SECONDS, {"" if k == "all" else k: one for k, one in columns.items()})}


def together(evictions: int) -> Place:
    return Place("b", "", evictions, SECONDS, Per.CLUSTER, TWO)


APART = Place("b", KEY, 100, SECONDS, Per.NODE, TWO)
ELSEWHERE = Place("other", "", 100, SECONDS, Per.CLUSTER, TWO)


def wishes(*pods: str, to: Place, more: tuple[Place, ...] = ()) -> list[Wish]:
    return [Wish(pod, (to, *more)) for pod in pods]


@pytest.mark.parametrize(
    ("counted", "evictions", "seconds"),
    [
        pytest.param(column(a=OVER, b=50), 2, None, id="what is over takes no place"),
        pytest.param(column(a=50, b=10), 3, None, id="the last place"),
        pytest.param(column(a=50, b=10), 2, SPAN - 50, id="when the first is over"),
        pytest.param(
            column(x=OVER, a=90, b=50, c=10), 2, SPAN - 50, id="of more than it lets go, enough"
        ),
    ],
)
def test_one_more(counted: Column, evictions: int, seconds: float | None) -> None:
    hold = room_for(book(all=counted), wishes("new", to=together(evictions)), NOW)
    until = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert (None if hold is None else hold.until) == until


def test_of_nodes_those_that_are_over_make_no_room_again() -> None:
    nodes = together(2)._replace(by_node=True)
    counted = {"nodes/": column(x=OVER, a=50, b=10)}
    new = [wish._replace(node="new-node") for wish in wishes("new", to=nodes)]
    hold = room_for({"b": Sheet(SECONDS, counted)}, new, NOW)
    assert hold is not None
    assert hold.until == NOW + timedelta(seconds=SPAN - 50)


def test_one_of_a_gang_who_is_counted_needs_no_second_place() -> None:
    gang = wishes("new", "a", to=together(3))
    assert room_for(book(all=column(a=50, b=10)), gang, NOW) is None


@pytest.mark.parametrize("to", [together(1), APART])
def test_who_has_his_place_is_not_held_where_there_are_too_many(to: Place) -> None:
    """He asks for a place in another budget, as when that was written since."""
    crowd = column(a=50, b=40, c=10)
    again = wishes("a", to=to, more=(ELSEWHERE,))
    assert room_for(book(all=crowd, k=crowd), again, NOW) is None


@pytest.mark.parametrize(
    ("columns", "fits"),
    [
        pytest.param({KEY: column(a=10)}, True, id="exactly"),
        pytest.param({KEY: column(a=20, b=10)}, False, id="one too many"),
        pytest.param({KEY: column(a=OVER, b=10)}, True, id="beside what is over"),
        pytest.param({KEY: column(a=10), "gone": column(b=OVER)}, True, id="a column that is over"),
        pytest.param({KEY: column(a=10), "other": column(b=10)}, False, id="beside another"),
    ],
)
def test_what_is_counted_apart_has_as_many_bytes(columns: dict[str, Column], fits: bool) -> None:
    assert (room_for(book(**columns), wishes("new", to=APART), NOW) is None) is fits


@pytest.mark.parametrize(("spare", "fits"), [(0, True), (-1, False)])
def test_nodes_that_are_counted_apart_have_as_many_bytes(spare: int, fits: bool) -> None:
    most = len("nodes/k") + COLUMN_BYTES + 2 * EVICTION_BYTES + spare
    nodes = APART._replace(per=Per.ZONE, by_node=True, most_bytes=most)
    new = [wish._replace(node="new-node") for wish in wishes("new", to=nodes)]
    assert (room_for(book(**{"nodes/k": column(a=10)}), new, NOW) is None) is fits
