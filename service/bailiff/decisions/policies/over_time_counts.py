"""What budgets over time have counted, in one book of all who evict, and whether there is room.

Theory of operation. A budget counts apart what its `per` says, each in a column of its own. A pod
is counted by its UID, at the instant at which it was let go. One that is counted and asks again,
since what came after the gate has refused it, takes no second place: its instant moves to now. That
keeps the promise for its last try, too. With one place in any span that holds the old instant, it
has one in any span that holds the new one, and no span had more than N before. One that asks again
within seconds keeps even its instant, so that many tries are no writes.

With one of a gang a place is kept for each of the others, that counts like any. Who then goes takes
it for one try: who is to go once more, as by a name, needs one more. So does who has come since
then, and nobody keeps a place for him: he is in the place of others, and would keep the rest of
them here for one span after the other.

A budget of nodes counts each by its name, at the last instant at which a pod of it was let go, in
a column apart. So a node counts as long as it loses pods, and a span after; and a pod of one that
counts takes no place. At each eviction the nodes of the span before it are at most N: where its
node is new, that was looked at; else they are among those of the span before the last eviction.
And no span has more of them than the one that ends with its last eviction.

An eviction counts for MARGIN seconds longer than the span: so long may one that was let go take to
be carried out, and by so much the clocks of those who count differ.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING

from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.over_time import Way, witnesses
from bailiff.decisions.policies.over_time_columns import (
    AGAIN,
    MARGIN,
    TRIED,
    Book,
    Column,
    Sheet,
    entry_of,
    tries_of,
    unused_of,
)
from bailiff.decisions.policies.over_time_settings import Per
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.decisions.policies.over_time import Place, Wish

# Bytes of an eviction in the ConfigMap, and of a column besides its key: see over_time_book.
EVICTION_BYTES, COLUMN_BYTES = 31, 6


def room_for(book: Book, wishes: Sequence[Wish], now: datetime) -> Hold | None:
    """Why not all of these may go, by the budgets; None: they may.

    Of several budgets that are used up, that one is told which lets them go last.

    Args:
        book: what is counted.
        wishes: first the pod that asks, then the others of its gang.
        now: the instant.
    """
    millis = _millis(now)
    if not wishes or _all_stand(book, wishes, millis):
        return None
    found = [
        _room(_column(book, place), place, there, millis) or _crowded(book, place, there, millis)
        for place, there in _by_place(_asking(book, wishes, millis)).items()
    ]
    return max((one for one in found if one is not None), key=_ends, default=None)


class OpenBook:
    """A book that is written in: what no longer counts is dropped once, whoever asks then.

    Attributes:
        changes: how many instants were written.
    """

    def __init__(self, book: Book, now: datetime, latest: datetime | None = None) -> None:
        """Open a book, which itself stays as it is.

        Args:
            book: what is counted.
            now: the earliest that it can be; what counts no longer by then is dropped.
            latest: the latest that it can be, at which evictions are counted; None: `now`.
        """
        self.changes = 0
        self._now = now
        self._at = _millis(latest or now)
        self._sheets = {name: _opened(sheet, _millis(now)) for name, sheet in book.items()}

    @property
    def is_changed(self) -> bool:
        """Somebody was counted."""
        return bool(self.changes)

    def ask(self, wishes: Sequence[Wish]) -> Hold | None:
        """As `room_for`; where there is room all of them are counted."""
        held = room_for(self._sheets, wishes, self._now)
        # What was counted with one of a gang seconds ago need not be looked at for each of it.
        if held is None and not all(map(self._has_just_counted, witnesses(wishes))):
            self.count(_asking(self._sheets, wishes, _millis(self._now)))
        return held

    def _has_just_counted(self, wish: Wish) -> bool:
        since, now = self._at - AGAIN * 1000, _millis(self._now)
        wishes = [(wish.at(place), _column(self._sheets, place)) for place in wish.places]
        found = [(one.pod, entry_of(column, one, since, now)) for one, column in wishes]
        # A place that is kept is still to be taken, and each try by a name has its own.
        is_later = wish.way is Way.LATER
        return bool(found) and all(entry and (is_later or entry == own) for own, entry in found)

    def count(self, wishes: Sequence[Wish]) -> None:
        """Count these, for whom there is room."""
        for place, there in _by_place(wishes).items():
            column, since = self._place(place), _since(_millis(self._now), place.seconds)
            for wish in there:
                self._take(column, wish, since)

    def _take(self, column: Column, wish: Wish, since: int) -> None:
        found = entry_of(column, wish, since, _millis(self._now))
        if wish.way is Way.LATER and found not in ("", wish.kept_as, wish.pod):
            # A try of its own, which may be under way.
            return
        entry = found or wish.kept_as
        if wish.way is Way.BY_UID:
            entry = wish.pod
        elif wish.way is not Way.LATER and entry == wish.kept_as:
            entry = unused_of(column, wish)
        if found and found != entry:
            self._rename(column, found, entry)
        if column.by_pod.get(entry, 0) <= self._at - AGAIN * 1000:
            self._write(column, entry)

    def closed(self) -> Book:
        """The book as it is to be kept."""
        found = {}
        for name, sheet in self._sheets.items():
            columns = {key: Column.of(one.by_pod) for key, one in sheet.columns.items()}
            found[name] = Sheet(sheet.seconds, {k: one for k, one in columns.items() if one.by_pod})
        return {name: sheet for name, sheet in found.items() if sheet.columns}

    def _place(self, place: Place) -> Column:
        # Opened ones hold dicts and lists of their own.
        columns: dict[str, Column]
        columns = self._sheets[place.budget].columns if place.budget in self._sheets else {}  # type: ignore[assignment]
        self._sheets[place.budget] = Sheet(place.seconds, columns)
        return columns.setdefault(place.column, Column({}, []))

    def _rename(self, column: Column, before: str, after: str) -> None:
        self.changes += 1
        by_pod: dict[str, int] = column.by_pod  # type: ignore[assignment]
        by_pod[after] = by_pod.pop(before)

    def _write(self, column: Column, pod: str) -> None:
        self.changes += 1
        by_pod: dict[str, int] = column.by_pod  # type: ignore[assignment]
        instants: list[int] = column.instants  # type: ignore[assignment]
        before = by_pod.pop(pod, None)
        if before is not None:
            del instants[bisect_left(instants, before)]
        by_pod[pod] = self._at
        insort(instants, self._at)


def is_counted(book: Book, wishes: Sequence[Wish], now: datetime) -> bool:
    """Whether the first of these has its place already, and its gang with it."""
    return bool(wishes) and _all_stand(book, wishes, _millis(now))


def counted(
    book: Book, wishes: Sequence[Wish], now: datetime, latest: datetime | None = None
) -> Book:
    """The book with these counted, for whom there is room; see OpenBook."""
    opened = OpenBook(book, now, latest)
    opened.count(wishes)
    return opened.closed()


def _opened(sheet: Sheet, now: int) -> Sheet:
    since = _since(now, sheet.seconds)
    return Sheet(sheet.seconds, {key: one.opened(since) for key, one in sheet.columns.items()})


def _asking(book: Book, wishes: Sequence[Wish], now: int) -> Sequence[Wish]:
    """The one that asks; and where its gang has not begun to go, the others, else those counted."""
    first = witnesses(wishes)
    if len(first) == len(wishes) or not _is_counted(book, first[0]._replace(way=Way.LATER), now):
        return wishes
    return [wishes[0], *(wish for wish in wishes[1:] if _is_counted(book, wish, now))]


def _all_stand(book: Book, wishes: Sequence[Wish], now: int) -> bool:
    return all(_is_counted(book, wish, now) for wish in witnesses(wishes))


def _is_counted(book: Book, wish: Wish, now: int) -> bool:
    return bool(wish.places) and all(
        entry_of(_column(book, place), wish.at(place), _since(now, place.seconds), now)
        for place in wish.places
    )


def _by_place(wishes: Iterable[Wish]) -> dict[Place, list[Wish]]:
    """By where they are counted; pods of one node are one there where nodes are."""
    found: dict[Place, dict[str, Wish]] = {}
    for wish in wishes:
        for place in wish.places:
            one = wish.at(place)
            found.setdefault(place, {}).setdefault(one.pod, one)
    return {place: list(there.values()) for place, there in found.items()}


def _column(book: Book, place: Place) -> Column:
    sheet = book.get(place.budget)
    return Column() if sheet is None else sheet.columns.get(place.column, Column())


def _room(column: Column, place: Place, wishes: list[Wish], now: int) -> Hold | None:
    since = _since(now, place.seconds)
    first = bisect_right(column.instants, since)
    new = sum(not entry_of(column, wish, since, now) for wish in wishes)
    too_many = len(column.instants) - first + new - place.most
    if not new or too_many <= 0:
        return None
    if new > place.most:
        who = f"pods of {new} nodes" if place.by_node else f"{new} pods"
        message = f"{who} go together, and {place} never lets so many go"
        return Hold(cause=Cause.OVER_TIME, message=message, for_good=True)
    ending = _ending(column, wishes, since, now) if place.by_node else column.instants[first:]
    free = ending[too_many - 1] + _span(place.seconds)
    if wishes[0].way in (Way.BY_UID, Way.BY_NAME) and new == 1:
        # The last try may be over sooner, and lends its place.
        tries = (column.by_pod[one] for one in tries_of(column, wishes[0]))
        free = min((free, *(round(at + TRIED * 1000) for at in tries if at > since)))
    until = datetime.fromtimestamp(free / 1000, UTC)
    message = f"{place} is used up until {describe_time(until)}"
    return Hold(cause=Cause.OVER_TIME, message=message, until=until)


def _ending(column: Column, wishes: list[Wish], since: int, now: int) -> list[int]:
    """When the nodes were counted, in the order in which they make room.

    One of the gang itself makes none while there are others: when it is over it needs a place.
    """
    own = {entry_of(column, wish, since, now) for wish in wishes}
    counted = [(node in own, at) for node, at in column.by_pod.items() if at > since]
    return [at for _, at in sorted(counted)]


def _crowded(book: Book, place: Place, wishes: list[Wish], now: int) -> Hold | None:
    """There is room for these by the settings, and none to keep the counts."""
    if place.per is Per.CLUSTER or place.budget not in book:
        return None
    since, column = _since(now, place.seconds), _column(book, place)
    new = sum(not entry_of(column, wish, since, now) for wish in wishes)
    columns = book[place.budget].columns
    kept = {k: len(c.instants) - bisect_right(c.instants, since) for k, c in columns.items()}
    filled = {key: count for key, count in kept.items() if count}
    filled[place.column] = kept.get(place.column, 0) + new
    if not new or sum(map(_bytes, filled, filled.values())) <= place.most_bytes:
        return None
    message = (
        f"{place} has {sum(kept.values())} counts in all, and its part of the ConfigMap, "
        f"{place.most_bytes} bytes, holds no more"
    )
    return Hold(cause=Cause.OVER_TIME, message=message)


def _bytes(key: str, count: int) -> int:
    return len(key) + COLUMN_BYTES + count * EVICTION_BYTES


def _ends(hold: Hold) -> tuple[bool, float]:
    return hold.for_good, inf if hold.until is None else hold.until.timestamp()


def _millis(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def _span(seconds: int) -> int:
    return round((seconds + MARGIN) * 1000)


def _since(now: int, seconds: int) -> int:
    return now - _span(seconds)
