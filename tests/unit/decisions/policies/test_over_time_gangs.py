"""Budgets over time and gangs: places that are kept, and that one of them is one eviction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import (
    EMPTY_BOOK,
    Circumstances,
    Gang,
    Hold,
    OpenBook,
    Wish,
    digest_of,
    wishes_of,
)
from tests.harness.gating import shop_pod
from tests.harness.tallies import budget

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
MOST, SECONDS = 4, 60
SETTINGS = budget(MOST, SECONDS)


def wishes(name: str, gang: str, request: str = "") -> list[Wish]:
    """One of a gang, and the others; with a request it is named by no UID."""
    pods = [Circumstances(pod=shop_pod(one, group="g"), gang=None) for one in gang if one != name]
    pod = Circumstances(pod=shop_pod(name, group="g"), gang=Gang(name="g", others=tuple(pods)))
    found = wishes_of(pod, SETTINGS)
    assert not isinstance(found, Hold)
    if request:
        found[0] = found[0]._replace(pod=digest_of(request))
    return found


TRIES = st.lists(
    st.tuples(
        st.floats(0, 30),  # seconds since the last try
        st.sampled_from("abcd"),
        st.booleans(),  # whether its UID is named
        st.booleans(),  # whether what came after the gate let the pod go
    ),
    max_size=40,
)


@given(TRIES)
def test_never_more_go_in_any_span_by_uid_or_by_name(
    tries: list[tuple[float, str, bool, bool]],
) -> None:
    """By a name another pod goes each time, by a UID one pod once."""
    book, elapsed, gang = EMPTY_BOOK, 0.0, set("abcd")
    gone: list[float] = []
    for number, (seconds, name, by_uid, goes) in enumerate(tries):
        elapsed += seconds
        if by_uid and name not in gang:
            continue
        opened = OpenBook(book, START + timedelta(seconds=elapsed))
        others = "".join(sorted(gang | {name}))
        if opened.ask(wishes(name, others, "" if by_uid else f"request {number}")) is not None:
            continue
        book = opened.closed()
        if goes:
            gone.append(elapsed)
            gang -= {name} if by_uid else set()
    for first in gone:
        assert sum(first <= at < first + SECONDS for at in gone) <= MOST


def test_each_of_a_gang_finds_its_place_kept_once() -> None:
    opened = OpenBook(EMPTY_BOOK, START)
    assert opened.ask(wishes("a", "abcd")) is None
    assert all(opened.ask(wishes(name, "abcd", f"request {name}")) is None for name in "bcd")
    assert isinstance(opened.ask(wishes("d", "d", "another request")), Hold)


def test_of_one_that_has_its_own_place_no_other_is_kept() -> None:
    opened = OpenBook(EMPTY_BOOK, START)
    for name, gang in (("a", "ab"), ("b", "ab"), ("c", "abc"), ("d", "abcd")):
        assert opened.ask(wishes(name, gang)) is None
    assert isinstance(opened.ask(wishes("b", "abcd", "a request")), Hold)


def test_a_place_that_is_kept_counts_where_a_budget_has_come_that_keeps_none() -> None:
    """Policies may change while a gang goes; the budget that was there is full with it."""
    opened = OpenBook(EMPTY_BOOK, START)
    assert opened.ask(wishes("a", "abcd")) is None
    (wish,) = wishes("b", "b")
    newer = wish.places[0]._replace(budget="newer")
    assert opened.ask([wish._replace(places=(*wish.places, newer))]) is None
