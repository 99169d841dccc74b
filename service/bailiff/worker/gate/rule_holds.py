"""Whom a rule holds back, by cause and by when to look again, and who is to be looked at now."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from itertools import chain
from operator import length_hint
from typing import TYPE_CHECKING

from bailiff.worker.timers.queue import DeadlineQueue
from bailiff.worker.timers.states import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.decisions.policies import Cause, Hold
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions


class RuleHolds:
    """Each eviction at most once in each of them. Not thread-safe: one event loop owns it."""

    def __init__(self, pending: PendingEvictions) -> None:
        """Start with nobody; the table tells who is HELD."""
        self._pending = pending
        self._held: defaultdict[Cause, dict[Eviction, None]] = defaultdict(dict)
        # By POSIX second of the wall clock.
        self._untils: DeadlineQueue[Eviction] = DeadlineQueue()
        # To be looked at. In a plain dict the way to the first grows with those taken.
        self._marked: OrderedDict[Eviction, None] = OrderedDict()
        # The same of those whom a change concerned, as far as they are still HELD.
        self._concerned: Iterator[Eviction] = iter(())
        # Changes that are not written down there yet: of a cause, or for all who are HELD.
        self._causes: set[Cause] = set()
        self._all = False

    def put(self, eviction: Eviction, hold: Hold) -> None:
        """Keep one until the hold says so, or until it is to be looked at for another reason."""
        self._held[hold.cause][eviction] = None
        if hold.until is not None:
            self._untils.put(eviction, hold.until.timestamp())

    def drop(self, eviction: Eviction) -> None:
        """Keep one no longer, and forget that it is to be looked at."""
        for held in self._held.values():
            held.pop(eviction, None)
        self._untils.cancel(eviction)
        self._marked.pop(eviction, None)

    def look_at(self, eviction: Eviction) -> None:
        """Look at one that is HELD soon."""
        self._marked[eviction] = None

    def look_at_held_by(self, cause: Cause) -> None:
        """Look at all whom this cause holds, soon."""
        self._causes.add(cause)

    def look_at_all(self) -> None:
        """Look at all who are HELD, soon."""
        self._all = True

    def next(self, wall: float) -> Eviction | None:
        """One to look at now, by the wall clock, and then to be dropped; None for nobody."""
        due = self._untils.pop_due(wall)
        if due is not None or self._marked:
            return due or self._marked.popitem(last=False)[0]
        if self._all or self._causes:
            self._concerned = self._write_down()
        for eviction in self._concerned:
            if eviction.state is State.HELD and self._pending.get(eviction.uid) is eviction:
                return eviction
        return None

    def next_due(self, now: float, wall: float) -> float | None:
        """The instant of the next look in elapsed time, which is `now` where it is `wall`."""
        if self._marked or self._all or self._causes or length_hint(self._concerned):
            return now
        until = self._untils.next_due()
        return None if until is None else now + until - wall

    def counts(self) -> Counter[str]:
        """How many are held, by cause."""
        return Counter({cause.value: len(held) for cause, held in self._held.items()})

    def _write_down(self) -> Iterator[Eviction]:
        """List in one go whom changes concern: they are looked at later, some at a time.

        To drop 150,000 from wherever they wait, and to put them elsewhere, takes seconds, in which
        no Lease would be renewed.
        """
        found: Iterable[Eviction]
        if self._all:
            found = [one for one in self._pending if one.state is State.HELD]
        else:
            held = (self._held[cause] for cause in self._causes)
            found = list(dict.fromkeys(chain(self._concerned, *held)))
        self._causes.clear()
        self._all = False
        return iter(found)
