"""Budgets over time and gangs: places that are kept, and that one of them is one eviction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import (
    EMPTY_BOOK,
    Book,
    Circumstances,
    Gang,
    Hold,
    OpenBook,
    Way,
    Wish,
    wishes_of,
)
from bailiff.decisions.policies.over_time import wish_of
from bailiff.decisions.policies.over_time_columns import TRIED
from tests.harness.gating import shop_pod
from tests.harness.tallies import budget

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
MOST, SECONDS = 4, 60
SETTINGS = budget(MOST, SECONDS)


def wishes(name: str, gang: str, way: Way = Way.BY_UID) -> list[Wish]:
    """One of a gang, and the others."""
    pods = [Circumstances(pod=shop_pod(one, group="g"), gang=None) for one in gang if one != name]
    pod = Circumstances(pod=shop_pod(name, group="g"), gang=Gang(name="g", others=tuple(pods)))
    found = wishes_of(pod, SETTINGS, way)
    assert not isinstance(found, Hold)
    return found


class Cluster:
    """Pods a, b, c and d: each is made anew, with another UID, when it is gone.

    Attributes:
        gone: the second of each eviction that has happened.
    """

    def __init__(self) -> None:
        self.uids = dict.fromkeys("abcd", 0)
        self.gone: list[float] = []
        self._under_way: list[tuple[float, str, int | None]] = []

    def evict(self, at: float, name: str, uid: int | None) -> None:
        """What was let go is carried out then, if there is such a pod; no UID: whoever it is."""
        self._under_way.append((at, name, uid))

    def until(self, now: float) -> None:
        due = sorted(one for one in self._under_way if one[0] <= now)
        self._under_way = [one for one in self._under_way if one[0] > now]
        for at, name, uid in due:
            if uid in (None, self.uids[name]):
                self.uids[name] += 1
                self.gone.append(at)

    def gang(self, besides: str) -> list[str]:
        """As UIDs."""
        return [f"{name}-{uid}" for name, uid in self.uids.items() if name != besides]


TRIES = st.lists(
    st.tuples(
        st.floats(0, 60),  # seconds since the last try
        st.sampled_from("abcd"),
        st.booleans(),  # whether its UID is named
        st.floats(0, 43) | st.none(),  # how long it takes; None: something else refuses it
    ),
    max_size=40,
)


@given(TRIES)
def test_never_more_go_in_any_span_by_uid_or_by_name(
    tries: list[tuple[float, str, bool, float | None]],
) -> None:
    book, now, cluster = EMPTY_BOOK, 0.0, Cluster()
    for seconds, name, by_uid, takes in tries:
        now += seconds
        cluster.until(now)
        uid = cluster.uids[name]
        opened = OpenBook(book, START + timedelta(seconds=now))
        way = Way.BY_UID if by_uid else Way.BY_NAME
        asked = wishes_among(f"{name}-{uid}", cluster.gang(besides=name), way)
        if opened.ask(asked) is None:
            book = opened.closed()
            if takes is not None:
                cluster.evict(now + takes, name, uid if by_uid else None)
    cluster.until(inf)
    for first in cluster.gone:
        assert sum(first <= at < first + SECONDS for at in cluster.gone) <= MOST


def wishes_among(pod: str, others: list[str], way: Way) -> list[Wish]:
    ways = [(pod, way), *((one, Way.LATER) for one in others)]
    found = [wish_of(shop_pod(one, group="g"), "", SETTINGS, how) for one, how in ways]
    return [one for one in found if one is not None]


def test_by_its_name_each_try_is_counted_until_the_one_before_is_over() -> None:
    def tried(seconds: float) -> Hold | None:
        at = START + timedelta(seconds=seconds)
        opened = OpenBook(books[-1], at)
        hold = opened.ask(wishes("a", "a", Way.BY_NAME))
        books.append(opened.closed())
        return hold

    books: list[Book] = [EMPTY_BOOK]
    assert [tried(seconds) for seconds in (0, 5, 10, 15)] == [None] * MOST
    held = tried(20)
    assert isinstance(held, Hold)
    # The first can come to nothing any more, since the pod is still there.
    assert held.until == START + timedelta(seconds=TRIED)
    assert tried(TRIED - 1) is not None
    assert [tried(TRIED + seconds) for seconds in (0, 5, 10, 15)] == [None] * MOST


def test_who_was_to_go_by_its_name_and_goes_by_its_uid_needs_a_place_for_itself_alone() -> None:
    opened = OpenBook(EMPTY_BOOK, START)
    for name in "abc":
        assert opened.ask(wishes(name, "abc", Way.BY_NAME)) is None
    soon = OpenBook(opened.closed(), START + timedelta(seconds=1))
    assert soon.ask(wishes("a", "abcnew")) is None
    assert soon.ask(wishes("b", "abcnew")) is not None


def test_one_of_a_gang_that_was_refused_elsewhere_goes_when_its_try_is_over() -> None:
    """And who has come in the place of another takes none meanwhile."""
    opened = OpenBook(EMPTY_BOOK, START)
    for name in "abcd":
        assert opened.ask(wishes(name, "abcd", Way.BY_NAME)) is None
    soon = OpenBook(opened.closed(), START + timedelta(seconds=5))
    assert soon.ask(wishes("b", "abcd", Way.BY_NAME)) is not None
    later = OpenBook(opened.closed(), START + timedelta(seconds=TRIED))
    assert later.ask(wishes("b", "bnew", Way.BY_NAME)) is None
    assert sum(len(sheet.columns[""].by_pod) for sheet in later.closed().values()) == MOST


def test_each_of_a_gang_finds_its_place_kept_once() -> None:
    opened = OpenBook(EMPTY_BOOK, START)
    assert opened.ask(wishes("a", "abcd")) is None
    assert all(opened.ask(wishes(name, "abcd", Way.BY_NAME)) is None for name in "bcd")
    assert isinstance(opened.ask(wishes("d", "d", Way.BY_NAME)), Hold)


def test_of_one_that_has_its_own_place_no_other_is_kept() -> None:
    opened = OpenBook(EMPTY_BOOK, START)
    for name, gang in (("a", "ab"), ("b", "ab"), ("c", "abc"), ("d", "abcd")):
        assert opened.ask(wishes(name, gang)) is None
    assert isinstance(opened.ask(wishes("b", "abcd", Way.BY_NAME)), Hold)


def test_a_place_that_is_kept_counts_where_a_budget_has_come_that_keeps_none() -> None:
    """Policies may change while a gang goes; the budget that was there is full with it."""
    opened = OpenBook(EMPTY_BOOK, START)
    assert opened.ask(wishes("a", "abcd")) is None
    (wish,) = wishes("b", "b")
    newer = wish.places[0]._replace(budget="newer")
    assert opened.ask([wish._replace(places=(*wish.places, newer))]) is None
