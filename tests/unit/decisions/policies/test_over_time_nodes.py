"""Budgets over time that count nodes: each once, by its last eviction, however many pods go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.policies import (
    EMPTY_BOOK,
    Book,
    Circumstances,
    Gang,
    Hold,
    OpenBook,
    OverTime,
    OverTimeBudget,
    Per,
    Way,
    is_counted,
    read_book,
    wishes_of,
    write_book,
)
from bailiff.decisions.policies.over_time import digest_of
from bailiff.decisions.policies.over_time_columns import AGAIN, MARGIN
from tests.harness.kinds import pod_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
SECONDS = 60
SPAN = SECONDS + MARGIN
TWO = OverTimeBudget(name="two", nodes=2, seconds=SECONDS)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def settings_of(*budgets: OverTimeBudget) -> OverTime:
    return OverTime(budgets=budgets or (TWO,))


def asks(name: str, node: str, *others: Circumstances, zone: str = "") -> Circumstances:
    """A pod of this node; with others, its gang."""
    pod = pod_of(name, node, namespace="shop", uid=f"uid-{name}")
    gang = Gang(name="shop/g", others=others) if others else None
    return Circumstances(pod=pod, zone=zone, pause=None, gang=gang)


class Counts:
    """A book that is read and written again for each who asks."""

    def __init__(self, *budgets: OverTimeBudget, book: Book = EMPTY_BOOK) -> None:
        self.settings = settings_of(*budgets)
        self.book = book

    def ask(self, facts: Circumstances, seconds: float, way: Way = Way.BY_UID) -> Hold | None:
        wishes = wishes_of(facts, self.settings, way)
        assert not isinstance(wishes, Hold)
        opened = OpenBook(read_book(write_book(self.book)), after(seconds))
        held = opened.ask(wishes)
        if held is None:
            self.book = opened.closed()
        return held

    def held(self, facts: Circumstances, seconds: float) -> Hold:
        found = self.ask(facts, seconds)
        assert found is not None
        return found

    def column(self, key: str = "nodes/", budget: str = "two") -> dict[str, int]:
        return dict(self.book[budget].columns[key].by_pod)


def test_a_pod_of_a_third_node_waits_and_is_told_why_and_until_when() -> None:
    counts = Counts()
    assert counts.ask(asks("a", "n1"), 0) is None
    assert counts.ask(asks("b", "n2"), 1) is None
    held = counts.held(asks("c", "n3"), 2)
    assert held.message == "budget two (2 nodes in 60 s) is used up until 2026-01-31T12:01:58Z"
    assert (held.until, held.for_good) == (after(SPAN), False)


def test_however_many_pods_of_a_node_that_counts_go() -> None:
    counts = Counts(replace(TWO, nodes=1))
    assert [counts.ask(asks(f"p{one}", "n1"), one) for one in range(50)] == [None] * 50
    assert len(counts.column()) == 1


@pytest.mark.parametrize("seconds", [AGAIN, 30, SPAN - 0.001])
def test_a_node_counts_by_its_last_eviction(seconds: float) -> None:
    counts = Counts(replace(TWO, nodes=1))
    counts.ask(asks("a", "n1"), 0)
    assert counts.ask(asks("b", "n1"), seconds) is None
    assert counts.held(asks("c", "n2"), SPAN).until == after(seconds + SPAN)
    assert counts.ask(asks("c", "n2"), seconds + SPAN) is None


def test_pods_of_a_node_that_go_within_seconds_are_written_once() -> None:
    counts = Counts()
    counts.ask(asks("a", "n1"), 0)
    counts.ask(asks("b", "n1"), AGAIN - 1)
    assert list(counts.column().values()) == [round(NOW.timestamp() * 1000)]


ONE_POD = OverTimeBudget(name="pods", evictions=1, seconds=SECONDS)


@pytest.mark.parametrize("besides", [(), (replace(ONE_POD, evictions=2),)])
def test_a_clock_that_is_slow_takes_no_node_back(besides: tuple[OverTimeBudget, ...]) -> None:
    counts = Counts(TWO, *besides)
    counts.ask(asks("a", "n1"), 20)
    counts.ask(asks("b", "n1"), 10)
    assert list(counts.column().values()) == [round(after(20).timestamp() * 1000)]


@pytest.mark.parametrize("way", [Way.BY_NAME, Way.SUCCESSOR])
def test_by_its_name_a_pod_takes_the_place_of_the_node_it_is_on(way: Way) -> None:
    counts = Counts(replace(TWO, nodes=1))
    assert [counts.ask(asks("a", "n1"), one, way) for one in (0, 10, 20)] == [None] * 3
    assert counts.held(asks("b", "n2"), 21).until == after(20 + SPAN)


def test_what_no_node_has_taken_yet_counts_as_one_of_its_own() -> None:
    counts = Counts()
    assert counts.ask(asks("a", ""), 0) is None
    assert counts.ask(asks("a", ""), 10) is None
    assert counts.ask(asks("b", ""), 20) is None
    counts.held(asks("c", ""), 21)


@pytest.mark.parametrize(
    ("per", "key", "where"),
    [
        (Per.CLUSTER, "nodes/", ""),
        (Per.NAMESPACE, "nodes/shop", " of namespace shop"),
        (Per.ZONE, "nodes/z1", " of zone z1"),
    ],
)
def test_nodes_are_counted_apart_in_columns_of_their_own(per: Per, key: str, where: str) -> None:
    counts = Counts(replace(TWO, nodes=1, per=per))
    counts.ask(asks("a", "n1", zone="z1"), 0)
    assert list(counts.column(key)) == [digest_of("n1")]
    held = counts.held(asks("b", "n2", zone="z1"), 1)
    assert held.message.startswith(f"budget two (1 nodes{where} in 60 s)")
    elsewhere = counts.ask(asks("c", "n3", zone="z2"), 1)
    assert (elsewhere is None) is (per is Per.ZONE)


def test_beside_a_budget_of_evictions_both_hold() -> None:
    counts = Counts(TWO, replace(ONE_POD, evictions=2))
    assert counts.ask(asks("a", "n1"), 0) is None
    assert counts.ask(asks("b", "n1"), 1) is None
    assert "budget pods" in counts.held(asks("c", "n1"), 2).message
    assert len(counts.column()) == 1
    assert len(counts.column("", "pods")) == 2


def test_of_budgets_that_are_made_of_one_another_nothing_was_counted() -> None:
    """Else 100 pods of one node were 100 nodes, or a node that lost 100 pods one eviction."""
    by_pod = replace(TWO, nodes=None, evictions=2)
    counts = Counts(by_pod)
    counts.ask(asks("a", "n1"), 0)
    nodes = Counts(book=counts.book)
    assert [nodes.ask(asks(f"{node}-0", node), 1) for node in ("n1", "n2")] == [None, None]
    assert set(nodes.book["two"].columns) == {"", "nodes/"}, "whoever still counts pods has them"
    again = Counts(by_pod, book=nodes.book)
    assert again.ask(asks("b", "n1"), 2) is None
    again.held(asks("c", "n1"), 3)
    assert len(nodes.column()) == len(again.column()) == 2


def test_a_gang_of_one_node_takes_one_place() -> None:
    counts = Counts(replace(TWO, nodes=1))
    assert counts.ask(asks("a", "n1", asks("b", "n1"), asks("c", "n1")), 0) is None
    assert len(counts.column()) == 1


def test_a_gang_goes_from_all_of_its_nodes_or_from_none() -> None:
    counts = Counts()
    gang = asks("a", "n1", asks("b", "n2"))
    # Of the node of the first another pod went: that says nothing of the gang.
    assert counts.ask(asks("x", "n1"), 0) is None
    assert counts.ask(asks("y", "n3"), 10) is None
    # That its own node counts no longer then is of no use to it.
    assert counts.held(gang, 11).until == after(10 + SPAN)
    counts.held(gang, SPAN)
    assert counts.ask(gang, 10 + SPAN) is None
    assert counts.column().keys() >= {digest_of("n1"), digest_of("n2")}


def test_with_the_first_of_a_gang_the_nodes_of_all_are_counted() -> None:
    """Though a pod of the first one's node went just now, and all there is to write is theirs."""
    counts = Counts()
    counts.ask(asks("x", "n1"), 0)
    assert counts.ask(asks("a", "n1", asks("b", "n2")), 1) is None
    assert set(counts.column()) == {digest_of("n1"), digest_of("n2")}
    counts.held(asks("y", "n3"), 2)


def test_a_gang_stands_when_all_of_its_nodes_are_counted() -> None:
    counts = Counts()
    counts.ask(asks("x", "n1"), 0)
    wishes = wishes_of(asks("a", "n1", asks("b", "n2")), counts.settings)
    assert not isinstance(wishes, Hold)
    assert not is_counted(counts.book, wishes, after(1))
    counts.ask(asks("y", "n2"), 1)
    assert is_counted(counts.book, wishes, after(2))


def test_where_evictions_are_counted_too_they_tell_that_a_gang_has_begun() -> None:
    counts = Counts(TWO, replace(ONE_POD, evictions=2))
    assert counts.ask(asks("a", "n1", asks("b", "n2")), 0) is None
    # One more has come, for whom there is no room: the rest goes all the same.
    assert counts.ask(asks("b", "n2", asks("new", "n3")), 20) is None
    counts.held(asks("new", "n3"), 21)


def test_a_gang_of_more_nodes_than_ever_go_is_told_so() -> None:
    gang = asks("a", "n1", asks("b", "n2"), asks("c", "n3"))
    held = Counts().held(gang, 0)
    assert held.for_good
    assert held.message == (
        "pods of 3 nodes go together, and budget two (2 nodes in 60 s) never lets so many go"
    )


def test_a_gang_that_has_grown_beyond_the_budget_waits_for_its_own() -> None:
    """No more would fit at once, and of those that have gone the first is over first."""
    counts = Counts()
    for number, node in enumerate(("n1", "n2")):
        counts.ask(asks(str(number), node), number)
    held = counts.held(asks("a", "n1", asks("b", "n2"), asks("c", "n3")), 2)
    assert (held.until, held.for_good) == (after(SPAN), False)


NODES = [f"n{one}" for one in range(6)]
TRIES = st.lists(
    st.tuples(
        st.floats(0, 40),  # seconds since the last try
        st.sampled_from(NODES),
        st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]),  # how far the clock of the replica is off
        st.floats(0, 43) | st.none(),  # how long it takes; None: something else refuses it
    ),
    max_size=60,
)


def nodes_of(gone: list[tuple[float, str]], first: float, seconds: float) -> set[str]:
    """The naive model: from which nodes a pod went in this span, its end left out."""
    return {node for at, node in gone if first <= at < first + seconds}


@given(TRIES, st.integers(1, 3))
def test_pods_of_never_more_nodes_go_in_any_span(
    tries: list[tuple[float, str, float, float | None]], most: int
) -> None:
    counts, now = Counts(replace(TWO, nodes=most)), 0.0
    gone: list[tuple[float, str]] = []
    for number, (seconds, node, skew, takes) in enumerate(tries):
        now += seconds
        held = counts.ask(asks(str(number), node), now + skew)
        if held is None and takes is not None:
            gone.append((now + takes, node))
    for first, _ in gone:
        assert len(nodes_of(gone, first, SECONDS)) <= most


@given(TRIES, st.integers(1, 3))
def test_and_none_waits_while_there_is_room(
    tries: list[tuple[float, str, Any, Any]], most: int
) -> None:
    counts, now = Counts(replace(TWO, nodes=most)), 0.0
    let_go: list[tuple[float, str]] = []
    for number, (seconds, node, *_) in enumerate(tries):
        now += seconds
        # The book does not tell apart what a millisecond does not.
        lately = nodes_of(let_go, now - SPAN - 0.002, SPAN + 0.004)
        if counts.ask(asks(str(number), node), now) is None:
            let_go.append((now, node))
        else:
            assert len(lately) >= most
            # Its own last eviction was at most AGAIN later than it was counted.
            assert node not in nodes_of(let_go, now - SPAN + AGAIN + 0.002, SPAN)


GANGS = st.lists(
    st.tuples(
        st.floats(0, 90),  # seconds since the last try
        st.lists(st.sampled_from(NODES), min_size=1, max_size=4),  # of each of the gang
    ),
    max_size=30,
)


@given(GANGS, st.integers(1, 3), st.booleans())
def test_gangs_go_from_never_more_nodes_in_any_span_either(
    tries: list[tuple[float, list[str]]], most: int, pods_too: bool
) -> None:
    besides = (replace(ONE_POD, evictions=6),) if pods_too else ()
    counts, now = Counts(replace(TWO, nodes=most), *besides), 0.0
    gone: list[tuple[float, str]] = []
    for number, (seconds, nodes) in enumerate(tries):
        now += seconds
        # Some of a gang come back under the same UID: they have stayed.
        first, *others = [asks(f"{(number + n) % 9}", node) for n, node in enumerate(nodes)]
        gang = replace(first, gang=Gang(name="shop/g", others=tuple(others)) if others else None)
        held = counts.ask(gang, now)
        if held is None:
            gone += [(now, first.pod.spec.node_name)]
            if not pods_too:
                gone += [(now, one.pod.spec.node_name) for one in others]
        elif held.until is not None:
            assert held.until > after(now)
    for at, _ in gone:
        assert len(nodes_of(gone, at, SECONDS)) <= most
