"""Evictions that no rule holds back, and that wait for limits to let them begin.

Those whom the same limits concern stand in one line, the best rank first. Each line waits for one
key: that of a limit which is used up, or TOTAL where none of its own is. A key that has a token or
a slot again lets out the best line that waits for it, one at a time; that line begins, or waits for
another of its keys and passes the turn on. So nothing is looked at in vain: a step costs
O(log n), however many wait, and a line that is held back is in nobody's way.

The total's limit concerns all: while it is used up, nothing is looked at.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.decisions.policies import rank
from bailiff.worker.execute.outcomes import REFUSALS, is_past_deadline
from bailiff.worker.gate.meters import TOTAL, Key, Meters
from bailiff.worker.timers.queue import DeadlineQueue, RankedQueue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.decisions.policies import Hold, Policies
    from bailiff.worker.timers.eviction import Eviction

# How many lines that share several limits one step moves from one key to another, about 2 ms.
_SCAN = 256

# What an eviction is ordered by; the smallest goes first.
Rank: TypeAlias = tuple[Any, ...]


class Line(RankedQueue["Eviction", Rank]):
    """Those whom the same limits concern.

    Attributes:
        keys: these limits, but for the total.
        waits_for: one of them that is used up; TOTAL if none is, for all that is known.
        hold: why it waits for one of its own, or last did.
        is_former: those who stand here are to be put into other lines, and nobody else joins.
    """

    __slots__ = ("hold", "is_former", "keys", "waits_for")

    def __init__(self, keys: tuple[Key, ...]) -> None:
        super().__init__()
        self.keys = keys
        self.waits_for = TOTAL
        self.hold: Hold | None = None
        self.is_former = False


class Lines:
    """All lines. Not thread-safe: one event loop owns it."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._lines: dict[tuple[Key, ...], Line] = {}
        self._line_of: dict[Eviction, Line] = {}
        # Lines by the key that they wait for, each at the rank of its first.
        self._waiting: defaultdict[Key, RankedQueue[Line, Rank]] = defaultdict(RankedQueue)
        # Keys that lines wait for, by when they have a token again.
        self._tokens: DeadlineQueue[Key] = DeadlineQueue()
        # Why the total held all of them back last.
        self._hold: Hold | None = None

    def __contains__(self, eviction: Eviction) -> bool:
        return eviction in self._line_of

    def renew(self) -> None:
        """Whoever stands in a line is to be removed, and put anew, before the next one begins."""
        for line in self._lines.values():
            line.is_former = True
        self._lines, self._tokens = {}, DeadlineQueue()
        self._waiting.clear()

    def put(self, eviction: Eviction, keys: tuple[Key, ...], place: Rank) -> None:
        """Let one join the line of its limits; it must not stand in any."""
        line = self._lines.get(keys)
        if line is None:
            line = self._lines[keys] = Line(keys)
        self._line_of[eviction] = line
        line.put(eviction, place)
        if line.first()[1] is eviction:
            # It may be better than another that a key has let out, and that has not begun.
            self._wait(line, TOTAL)

    def remove(self, eviction: Eviction, now: float) -> Hold | None:
        """Let one leave; what held it back last. None: nothing did, or it stands in no line."""
        line = self._line_of.pop(eviction, None)
        if line is None:
            return None
        line.cancel(eviction)
        if line.is_former:
            # Little by little: to free 150,000 entries at once takes 40 ms.
            line.drop_leftovers()
        else:
            self._leave(line, now)
        return line.hold or self._hold

    def first(self, now: float) -> Eviction | None:
        """The best one that no limit holds back; it stays where it is until `remove`.

        None: there is none, or none of so many lines as one step looks at.
        """
        while (key := self._tokens.pop_due(now)) is not None:
            self.let_out((key,), now)
        total = self._meters.of(TOTAL)
        if total.free_at(now) > now:
            self._hold = total.hold(TOTAL, now)
            return None
        for _ in range(_SCAN):
            if not self._waiting[TOTAL]:
                break
            _, line = self._waiting[TOTAL].first()
            key = self._used_up(line, now)
            if key is None:
                return line.first()[1]
            self._park(line, key, now)
        return None

    def let_out(self, keys: Iterable[Key], now: float) -> None:
        """Let the best line that waits for a key go on if it is to be had, for each of them."""
        for key in keys:
            if waiting := self._waiting.get(key):
                at = self._meters.of(key).free_at(now)
                if at <= now:
                    self._wait(waiting.first()[1], TOTAL)
                elif at < math.inf:
                    self._tokens.put(key, at)

    def next_free(self, now: float) -> float | None:
        """When a limit lets the next one begin; None if nothing but an ending does."""
        token = self._tokens.next_due()
        total = self._meters.of(TOTAL).free_at(now) if self._waiting[TOTAL] else math.inf
        soonest = min(total, math.inf if token is None else token)
        return None if soonest == math.inf else soonest

    def keys_of(self, eviction: Eviction) -> tuple[Key, ...] | None:
        """The keys of the line that one stands in; None if in none, or in a former one."""
        line = self._line_of.get(eviction)
        return None if line is None or line.is_former else line.keys

    def hold(self, eviction: Eviction, now: float) -> Hold | None:
        """What holds back one that stands in a line; None if it only waits for its turn."""
        return self._hold_of(self._line_of[eviction], now)

    def counts(self, now: float) -> Counter[str]:
        """How many the limits hold back, by cause."""
        counts: Counter[str] = Counter()
        for line in self._lines.values():
            hold = self._hold_of(line, now)
            if hold is not None:
                counts[hold.cause.value] += len(line)
        return counts

    def _hold_of(self, line: Line, now: float) -> Hold | None:
        if line.is_former or line.waits_for != TOTAL:
            return None if line.is_former else line.hold
        total = self._meters.of(TOTAL)
        return total.hold(TOTAL, now) if total.free_at(now) > now else None

    def _wait(self, line: Line, key: Key) -> None:
        """Let a line wait for a key, at the rank that its first one has now."""
        before = self._waiting[line.waits_for]
        before.cancel(line)
        if not before:
            del self._waiting[line.waits_for]
        line.waits_for = key
        if line:
            self._waiting[key].put(line, line.first()[0])
        else:
            del self._lines[line.keys]

    def _leave(self, line: Line, now: float) -> None:
        """Someone has left; where it was the line's turn it passes to the next that it keeps."""
        was_let_out = line.waits_for == TOTAL
        self._wait(line, line.waits_for)
        if was_let_out:
            self.let_out(line.keys, now)

    def _park(self, line: Line, key: Key, now: float) -> None:
        line.hold = self._meters.of(key).hold(key, now)
        self._wait(line, key)
        # It may have been let out by another key, which is still to be had.
        self.let_out(line.keys, now)

    def _used_up(self, line: Line, now: float) -> Key | None:
        """The key that is used up for longest; None if none is."""
        free = [(self._meters.of(key).free_at(now), key) for key in line.keys]
        at, key = max(free, default=(now, TOTAL))
        return key if at > now else None


def place_in_line(eviction: Eviction, policies: Policies, now: float) -> Rank:
    """Those that were refused go behind, as they came: they must not use up the limits.

    That is over when a hard deadline lets them go all the same.
    """
    api = policies.eviction_api
    is_overdue = api is not None and is_past_deadline(eviction.due, api, now)
    refused = eviction.outcome in REFUSALS and not is_overdue
    place = () if refused else rank(eviction.pod, policies.drain_order)
    return refused, *place, eviction.place
