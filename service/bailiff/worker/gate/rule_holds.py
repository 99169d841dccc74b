"""Those whom a rule holds back: by cause, by when to look again, and who is to be looked at now."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import TYPE_CHECKING

from bailiff.worker.queue import DeadlineQueue

if TYPE_CHECKING:
    from bailiff.decisions.policies import Cause
    from bailiff.worker.eviction import Eviction


class Holding:
    """Each eviction at most once; a mark is made for one that is held, or was in line."""

    def __init__(self) -> None:
        self._causes: dict[Cause, dict[str, Eviction]] = defaultdict(dict)
        self._cause_of: dict[str, Cause] = {}
        self._untils: DeadlineQueue[str] = DeadlineQueue()
        # Worked off in the order they were made. In a plain dict the way to the first grows with
        # those that have been taken.
        self._marked: OrderedDict[str, Eviction] = OrderedDict()
        # Those whom a cause has held when something about it changed; the first is last.
        self._suspects: dict[Cause, list[Eviction]] = {}

    def put(self, eviction: Eviction, cause: Cause, until: float | None) -> None:
        """Keep one, to be looked at by this POSIX second, or only when it is marked."""
        self._causes[cause][eviction.uid] = eviction
        self._cause_of[eviction.uid] = cause
        if until is not None:
            self._untils.put(eviction.uid, until)

    def drop(self, uid: str) -> None:
        """Keep one no longer, and forget its mark."""
        self._marked.pop(uid, None)
        self._untils.cancel(uid)
        cause = self._cause_of.pop(uid, None)
        if cause is not None:
            del self._causes[cause][uid]

    def mark(self, eviction: Eviction) -> None:
        """Look at one soon."""
        self._marked[eviction.uid] = eviction

    def mark_all(self, cause: Cause) -> None:
        """Look at all whom this cause holds, soon."""
        self._suspects[cause] = list(self._causes[cause].values())[::-1]

    def next(self, wall: float) -> Eviction | None:
        """One to look at now, by the wall clock, which is to be dropped then; None for nobody."""
        uid = self._untils.pop_due(wall)
        if uid is not None:
            return self._causes[self._cause_of[uid]][uid]
        return next(iter(self._marked.values()), None) or self._next_suspect()

    def _next_suspect(self) -> Eviction | None:
        for cause, suspects in list(self._suspects.items()):
            while suspects:
                eviction = suspects.pop()
                if self._causes[cause].get(eviction.uid) is eviction:
                    return eviction
            del self._suspects[cause]
        return None

    def next_due(self, now: float, wall: float) -> float | None:
        """The instant of the next look in elapsed time, which is `now` where it is `wall`."""
        if self._marked or self._suspects:
            return now
        until = self._untils.next_due()
        return None if until is None else now + until - wall

    def counts(self) -> Counter[str]:
        """How many are held, by cause."""
        return Counter({cause.value: len(held) for cause, held in self._causes.items()})
