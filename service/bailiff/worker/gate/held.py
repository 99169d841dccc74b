"""All that are HELD, each in one group: of those whom one cause holds, or of a line.

Those that the same limits concern stand in one line, the best rank first. A line that a limit holds
back is parked; a scan goes round those that are, so many a step, and those that are free by then
stand ready. The best that stands ready goes first. While the total's limit is used up, which
concerns all, nobody is looked at.

Where something changes that concerns a whole group it becomes stale, which takes no time, whoever
is in it. They are looked at some at a time, and put into other groups.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from bailiff.decisions.policies import Cause, Rank
from bailiff.worker.gate.meters import TOTAL, Keys, Meters
from bailiff.worker.timers.queue import RankedQueue

if TYPE_CHECKING:
    from bailiff.decisions.policies import Hold
    from bailiff.worker.timers.eviction import Eviction

# How many lines one step looks at of those that are parked, and of those that stand ready; each
# takes about 2 µs.
_SCAN = 256
# An enumeration takes five times as long to go through, and this is done for each look.
_CAUSES = tuple(Cause)


class Place(Struct, order=True, gc=False):
    """Where one stands in its line: by rank, and then by when it fell due, in elapsed seconds."""

    rank: Rank
    due: float


class HeldBy(RankedQueue["Eviction", float]):
    """Those whom one cause holds, each by the POSIX second at which to look again.

    Attributes:
        by: the cause.
    """

    __slots__ = ("by",)

    def __init__(self, by: Cause) -> None:
        super().__init__()
        self.by = by


class Line(RankedQueue["Eviction", Place]):
    """Those whom the same limits concern, each at its place.

    Attributes:
        by: the limits, but for the total's.
        free_at: when they let the next one begin, as far as is known, in elapsed seconds.
        hold: what they say until then, or have said last.
    """

    __slots__ = ("by", "free_at", "hold")

    def __init__(self, by: Keys) -> None:
        super().__init__()
        self.by = by
        self.free_at = -math.inf
        self.hold: Hold | None = None


Group: TypeAlias = HeldBy | Line


class Held:
    """The groups. Not thread-safe: one event loop owns it."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._group_of: dict[Eviction, Group] = {}
        self._groups: dict[Cause | Keys, Group] = {}
        self._stale: deque[Group] = deque()
        self._ready: RankedQueue[Line, Place] = RankedQueue()
        # The scan looks at the first, which is the last then.
        self._parked: OrderedDict[Line, None] = OrderedDict()
        # How many the scan has not seen since something ended, and when the first of the others
        # is free.
        self._unseen, self._soonest = 0, math.inf
        # What the total's limit has said last.
        self._hold: Hold | None = None

    def hold_back(self, eviction: Eviction, by: Cause, until: float) -> None:
        """Keep one that is in no group until this POSIX second, or until it is looked at again."""
        group = self._groups.get(by)
        if not isinstance(group, HeldBy):
            group = self._groups[by] = HeldBy(by)
        group.put(eviction, until)
        self._group_of[eviction] = group

    def line_up(self, eviction: Eviction, by: Keys, place: Place) -> None:
        """Let one that is in no group stand in line for these limits."""
        line = self._groups.get(by)
        if not isinstance(line, Line):
            line = self._groups[by] = Line(by)
        line.put(eviction, place)
        self._group_of[eviction] = line
        self._settle(line)

    def remove(self, eviction: Eviction) -> Hold | None:
        """Take one out, if it is in; returns what limits said last to its line, if any did."""
        group = self._group_of.pop(eviction, None)
        if group is None:
            return None
        group.cancel(eviction)
        # Little by little: those of 150,000 at once would take 300 ms.
        group.drop_leftovers()
        self._settle(group)
        return group.hold or self._hold if isinstance(group, Line) else None

    def waits_for(self, eviction: Eviction) -> Cause | Keys | None:
        """What one that is in a group waits for; None: to be looked at."""
        group = self._group_of[eviction]
        return None if self._is_stale(group) else group.by

    # Who is to be looked at by the rules.

    def look_again(self, by: Cause | Keys | None) -> None:
        """Look soon at all who wait for this."""
        group = None if by is None else self._groups.get(by)
        if group is not None:
            self._take_out(group)
            self._stale.append(group)

    def look_again_at_all(self) -> None:
        """Look at everybody soon."""
        self._stale.extend(self._groups.values())
        self._groups, self._ready, self._parked = {}, RankedQueue(), OrderedDict()

    def to_look_at(self, wall: float) -> Eviction | None:
        """Who is to be looked at by this POSIX second; it is left where it is."""
        while self._stale:
            if self._stale[0]:
                return self._stale[0].first()[1]
            self._stale.popleft()
        until, eviction = self._first_held()
        return eviction if until <= wall else None

    # Who may begin by the limits.

    def first(self, now: float) -> Eviction | None:
        """The best of those that are free, left where it is.

        None: there is none, or none among so many lines as one step looks at.
        """
        if self._meters.free_at(TOTAL) > now:
            self._hold = self._meters.hold(TOTAL)
            return None
        self._scan(now)
        for _ in range(min(_SCAN, len(self._ready))):
            _, line = self._ready.first()
            if self._is_free(line, now):
                return line.first()[1]
            self._ready.cancel(line)
            self._parked[line] = None
        return None

    def something_ended(self) -> None:
        """Any line that is parked may be free by now."""
        self._unseen, self._soonest = len(self._parked), math.inf

    def next_due(self, now: float, wall: float) -> float:
        """When to ask again who is to be looked at or first; infinity: when something changes.

        In elapsed time, which is `now` where it is the POSIX second `wall`.
        """
        if self._stale:
            return now
        until, _ = self._first_held()
        goes_on = self._ready or min(self._unseen, len(self._parked))
        begins = now if goes_on else self._soonest if self._parked else math.inf
        return min(now + until - wall, max(begins, self._meters.free_at(TOTAL)))

    # What people see.

    def hold(self, eviction: Eviction, now: float) -> Hold | None:
        """What holds one back; None: it only waits for its turn, to be looked at or to begin."""
        group = self._group_of.get(eviction)
        if isinstance(group, Line):
            return self._hold_of(group, now)
        return None if eviction.waits is None else eviction.waits.hold

    def counts(self, now: float) -> Counter[str]:
        """How many are held back, by cause."""
        counts: Counter[str] = Counter()
        for group in chain(self._groups.values(), self._stale):
            if isinstance(group, HeldBy):
                counts[group.by.value] += len(group)
            elif (hold := self._hold_of(group, now)) is not None:
                counts[hold.cause.value] += len(group)
        return counts

    def _hold_of(self, line: Line, now: float) -> Hold | None:
        if self._is_stale(line):
            return None
        if line.free_at > now:
            return line.hold
        return self._meters.hold(TOTAL) if self._meters.free_at(TOTAL) > now else None

    def _settle(self, group: Group) -> None:
        """Some have come or gone: keep a group where its first one belongs."""
        if self._is_stale(group):
            return
        if not group:
            self._take_out(group)
        elif isinstance(group, Line) and group not in self._parked:
            self._ready.put(group, group.first()[0])

    def _is_stale(self, group: Group) -> bool:
        return self._groups.get(group.by) is not group

    def _take_out(self, group: Group) -> None:
        del self._groups[group.by]
        if isinstance(group, Line):
            self._ready.cancel(group)
            self._parked.pop(group, None)

    def _first_held(self) -> tuple[float, Eviction | None]:
        """Whom a rule lets go first, and at which POSIX second; infinity: nobody by itself."""
        groups = (self._groups.get(cause) for cause in _CAUSES)
        held = [group.first() for group in groups if isinstance(group, HeldBy)]
        return min(held, key=itemgetter(0), default=(math.inf, None))

    def _scan(self, now: float) -> None:
        """Go on with the round, or begin another."""
        if not self._unseen:
            self.something_ended()
        for line in list(islice(self._parked, min(self._unseen, _SCAN))):
            self._unseen -= 1
            if self._is_free(line, now):
                del self._parked[line]
                self._ready.put(line, line.first()[0])
            else:
                self._parked.move_to_end(line)

    def _is_free(self, line: Line, now: float) -> bool:
        """Ask the limits of a line, and note what they say."""
        free = [(self._meters.free_at(key), key) for key in line.by]
        line.free_at, key = max(free, default=(-math.inf, TOTAL))
        if line.free_at <= now:
            return True
        line.hold = self._meters.hold(key)
        self._soonest = min(self._soonest, line.free_at)
        return False
