"""Budgets over time: at most N evictions in any span, counted in one book by all who evict. Pure.

Theory of operation. A budget counts apart what its `per` says, each in a column of its own. A pod
is counted by its UID, at the instant at which it was let go. One that is counted and asks again,
since what came after the gate has refused it, takes no second place: its instant moves to now. That
keeps the promise for its last try, too. With one place in any span that holds the old instant, it
has one in any span that holds the new one, and no span had more than N before.

An eviction counts for CLOCK_MARGIN seconds longer than the span: by so much the clocks of those who
count may differ, and so long may a pod that was let go take to go.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import Struct

from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.over_time_settings import Per
from bailiff.decisions.policies.selectors import selects
from bailiff.decisions.text import describe_time
from bailiff.kinds import LABELS_NOT_KEPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.decisions.policies.over_time_settings import OverTime, OverTimeBudget
    from bailiff.kinds import Pod

CLOCK_MARGIN = 2.0
# Of a UID; by 64 bits two pods of one column are taken for one once in 10^15 evictions.
_DIGEST_BYTES = 8


class Place(NamedTuple):
    """Where an eviction is counted.

    Attributes:
        budget: its name.
        key: the namespace, node or zone; empty where the budget counts all pods together.
        evictions: see OverTimeBudget, as the others.
    """

    budget: str
    key: str
    evictions: int
    seconds: int
    per: Per

    def __str__(self) -> str:
        one = f" of {self.per.value.lower()} {self.key or '<none>'}"
        where = "" if self.per is Per.CLUSTER else one
        return f"budget {self.budget} ({self.evictions} evictions{where} in {self.seconds} s)"


class Wish(NamedTuple):
    """A pod that is to be counted, by the digest of its UID, and in which columns."""

    pod: str
    places: tuple[Place, ...]


class Column(Struct, frozen=True, gc=False):
    """The evictions that one budget counts together.

    Attributes:
        by_pod: the POSIX millisecond of each, the earliest first.
        instants: the same without the pods.
    """

    by_pod: Mapping[str, int] = {}
    instants: tuple[int, ...] = ()

    @classmethod
    def of(cls, by_pod: Mapping[str, int]) -> Column:
        """These, in any order."""
        ordered = dict(sorted(by_pod.items(), key=itemgetter(1)))
        return cls(ordered, tuple(ordered.values()))

    def after(self, instant: int) -> tuple[int, ...]:
        """The instants after this one."""
        return self.instants[bisect_right(self.instants, instant) :]

    def with_pods(self, pods: Iterable[str], at: int, since: int) -> Column:
        """With these counted at an instant, without what is not after `since`."""
        kept = {pod: one for pod, one in self.by_pod.items() if one > since}
        return self.of(kept | dict.fromkeys(pods, at))


class Sheet(Struct, frozen=True, gc=False):
    """What one budget has counted: the seconds of its span, and its columns by their keys."""

    seconds: int
    columns: Mapping[str, Column] = {}

    def pruned(self, now: int) -> Sheet:
        """Without what no longer counts."""
        since = _since(now, self.seconds)
        columns = {key: one.with_pods((), now, since) for key, one in self.columns.items()}
        return Sheet(self.seconds, {key: one for key, one in columns.items() if one.by_pod})


Book: TypeAlias = "Mapping[str, Sheet]"
EMPTY_BOOK: Book = {}


def wish_of(pod: Pod, zone: str, over_time: OverTime) -> Wish | None:
    """What counts an eviction of the pod, and where; None: nobody can tell, without its labels.

    Args:
        pod: who is to go.
        zone: of its node; empty where it has none.
        over_time: the budgets.
    """
    labels = pod.metadata.labels
    if labels is LABELS_NOT_KEPT and any(one.pod_selector for one in over_time.budgets):
        return None
    places = [_place(one, pod, zone) for one in over_time.budgets if _selects(one, pod)]
    return Wish(digest_of(pod.metadata.uid), tuple(places))


def digest_of(uid: str) -> str:
    """By which a pod is known in the book: 16 hexadecimal digits."""
    return hashlib.blake2b(uid.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def room_for(book: Book, wishes: Sequence[Wish], now: datetime) -> Hold | None:
    """Why not all of these may go, by the budgets; None: they may.

    Of several budgets that are used up, that one is told which lets them go last.
    """
    found = [
        hold
        for place, pods in _by_place(wishes).items()
        if (hold := _room(_column(book, place), place, pods, _millis(now))) is not None
    ]
    return max(found, key=_ends, default=None)


def counted(
    book: Book, wishes: Sequence[Wish], now: datetime, latest: datetime | None = None
) -> Book:
    """The book with these counted, and without what no longer counts.

    The caller has seen that there is room.

    Args:
        book: as it was.
        wishes: who is counted.
        now: the earliest that it can be; what counts no longer by then is dropped.
        latest: the latest that it can be, at which they are counted; None: `now`.
    """
    millis, at = _millis(now), _millis(latest or now)
    sheets = {name: sheet.pruned(millis) for name, sheet in book.items()}
    for place, pods in _by_place(wishes).items():
        sheet = sheets.get(place.budget, Sheet(place.seconds))
        since = _since(millis, place.seconds)
        column = sheet.columns.get(place.key, Column()).with_pods(pods, at, since)
        sheets[place.budget] = Sheet(place.seconds, {**sheet.columns, place.key: column})
    return {name: sheet for name, sheet in sheets.items() if sheet.columns}


def _selects(budget: OverTimeBudget, pod: Pod) -> bool:
    metadata = pod.metadata
    if budget.namespaces and metadata.namespace not in budget.namespaces:
        return False
    return budget.pod_selector is None or selects(budget.pod_selector, metadata.labels)


def _place(budget: OverTimeBudget, pod: Pod, zone: str) -> Place:
    key = _key(budget.per, pod, zone)
    return Place(budget.name, key, budget.evictions, budget.seconds, budget.per)


def _key(per: Per, pod: Pod, zone: str) -> str:
    match per:
        case Per.CLUSTER:
            return ""
        case Per.NAMESPACE:
            return pod.metadata.namespace
        case Per.NODE:
            return pod.spec.node_name
        case Per.ZONE:
            return zone


def _by_place(wishes: Sequence[Wish]) -> dict[Place, list[str]]:
    found: dict[Place, list[str]] = {}
    for wish in wishes:
        for place in wish.places:
            found.setdefault(place, []).append(wish.pod)
    return found


def _column(book: Book, place: Place) -> Column:
    sheet = book.get(place.budget)
    return Column() if sheet is None else sheet.columns.get(place.key, Column())


def _room(column: Column, place: Place, pods: list[str], now: int) -> Hold | None:
    since = _since(now, place.seconds)
    counts = column.after(since)
    new = sum(column.by_pod.get(pod, since) <= since for pod in pods)
    too_many = len(counts) + new - place.evictions
    if not new or too_many <= 0:
        return None
    if new > place.evictions:
        message = f"{new} pods go together, and {place} never lets so many go"
        return Hold(cause=Cause.OVER_TIME, message=message)
    until = datetime.fromtimestamp((counts[too_many - 1] + _span(place.seconds)) / 1000, UTC)
    message = f"{place} is used up until {describe_time(until)}"
    return Hold(cause=Cause.OVER_TIME, message=message, until=until)


def _ends(hold: Hold) -> float:
    return float("inf") if hold.until is None else hold.until.timestamp()


def _millis(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def _span(seconds: int) -> int:
    return round((seconds + CLOCK_MARGIN) * 1000)


def _since(now: int, seconds: int) -> int:
    return now - _span(seconds)
