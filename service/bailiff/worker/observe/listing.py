"""What is pending as an immutable value, taken by slices: the first that match, and how many do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.worker.mirror.slices import in_slices
from bailiff.worker.timers.states import State

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions import Finding
    from bailiff.decisions.policies import Hold
    from bailiff.kinds import Pod
    from bailiff.worker.observe.queue_query import Place, QueueQuery
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

# Rows of a listing, and so the longest page of /v1/queue.
MAX_ROWS = 1000
# What holds one of them is asked for at up to 3 us each.
_ROWS_AT_A_TIME = 250


class Row(NamedTuple):
    """One eviction as it was; the fields are those of Eviction.

    Attributes:
        place: when its turn comes, in elapsed seconds, and the pod's UID.
        hold: what keeps one that is due from happening.
    """

    place: Place
    pod: Pod
    finding: Finding
    state: State
    deadline: datetime
    attempts: int
    outcome: str
    hold: Hold | None


class Listing(NamedTuple):
    """Those that match a query.

    Attributes:
        total: how many there are, before the query's place and behind it.
        rows: the first behind it, MAX_ROWS at most.
        has_more: there are others behind those.
    """

    total: int
    rows: tuple[Row, ...]
    has_more: bool


async def list_pending(
    pending: PendingEvictions, query: QueueQuery, among: Iterable[Eviction] | None = None
) -> Listing:
    """Those of all that are pending now, or of some of them, that match.

    Gone through by slices, so others may come and go, or change, meanwhile.
    """
    found = _Found(query.place)
    async for part in in_slices(list(pending) if among is None else list(among)):
        found.take_in(part if query.is_for_all else query.those_of(part, pending))
    rows = [
        _row(*one, pending)
        async for part in in_slices(found.first(), _ROWS_AT_A_TIME)
        for one in part
    ]
    return Listing(found.total, tuple(rows), found.behind > len(rows))


class _Found:
    """The first of all that were seen; the others are only counted."""

    def __init__(self, after: Place | None) -> None:
        self.total = self.behind = 0
        self._after = after
        self._first: list[tuple[float, str, Eviction]] = []
        # Whoever comes behind this is none of the first.
        self._last = float("inf")

    def take_in(self, part: list[Eviction]) -> None:
        """These match, unless they are settled."""
        first, last, after, done = self._first, self._last, self._after, State.DONE
        settled = before = 0
        for one in part:
            if one.state is done and one.is_settled:
                settled += 1
                continue
            # Eviction.place, without the call: this is done for all that are pending.
            place = one.due if one.next_try is None else one.next_try
            if after is not None and (place, one.uid) <= after:
                before += 1
            elif place <= last:
                first.append((place, one.uid, one))
        self.total += len(part) - settled
        self.behind += len(part) - settled - before
        if len(first) >= 2 * MAX_ROWS:
            self._last = self.first()[-1][0]

    def first(self) -> list[tuple[float, str, Eviction]]:
        """In order."""
        self._first.sort()
        del self._first[MAX_ROWS:]
        return self._first


def _row(place: float, uid: str, eviction: Eviction, pending: PendingEvictions) -> Row:
    return Row(
        place=(place, uid),
        pod=eviction.pod,
        finding=eviction.finding,
        state=eviction.state,
        deadline=eviction.deadline,
        attempts=eviction.attempts,
        outcome=eviction.outcome,
        hold=pending.held_by(eviction),
    )
