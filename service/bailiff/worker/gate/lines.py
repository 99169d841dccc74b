"""Evictions that may begin as far as the cluster is concerned, and wait for limits to let them.

Those whom the same limits concern stand in one line, best rank first. A line whose first one may
begin, for all that is known, is ready; one that a limit holds back is parked with that limit's
key, and is looked at again when the key has a token or a slot, one line at a time. So a step
costs O(log n), whatever waits, and a line that is held back is in nobody's way. Only where lines
share two limits may a step move several lines from one key to the other.

The total's limit concerns all: while it is used up, nothing is looked at.

Every heap deletes lazily: an entry counts only while its line, or its eviction, points at it.

An entry refers to nothing that the garbage collector tracks, and so is not tracked itself: with
150,000 in line that is the difference between pauses of 0.1 s and none.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.decisions.policies import rank
from bailiff.worker.execute.outcomes import REFUSALS, is_past_deadline
from bailiff.worker.gate.meters import TOTAL, Key, Meters
from bailiff.worker.timers.queue import DeadlineQueue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies import Hold, Policies
    from bailiff.worker.timers.eviction import Eviction

# A heap is swept when leftovers are more than this, and than what counts.
_SWEEP_ABOVE = 1024

# What an eviction is ordered by; the smallest goes first.
Rank: TypeAlias = tuple[Any, ...]
_Entry: TypeAlias = tuple[Rank, int, "Eviction"]
_LineEntry: TypeAlias = tuple[Rank, int, "Line"]


class Line:
    """Those whom the same limits concern.

    Attributes:
        keys: these limits, but for the total.
        parked: the key it waits for; None while it is ready.
        waits: why it is parked, or was last.
        entry: what stands for it among the ready ones, or with the key it is parked with.
        size: how many stand in it.
    """

    __slots__ = ("_heap", "entry", "keys", "parked", "size", "waits")

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys
        self.parked: Key | None = None
        self.waits: Hold | None = None
        self.entry: _LineEntry | None = None
        self.size = 0
        self._heap: list[_Entry] = []

    def push(self, entry: _Entry, standing: dict[str, _Entry]) -> None:
        """Someone joins, who stands here by now."""
        heapq.heappush(self._heap, entry)
        self.size += 1
        if len(self._heap) > _SWEEP_ABOVE + 2 * self.size:
            self._heap = [one for one in self._heap if standing.get(one[2].uid) is one]
            heapq.heapify(self._heap)

    def first(self, standing: dict[str, _Entry]) -> _Entry | None:
        """The best of those who still stand here."""
        heap = self._heap
        while heap and standing.get(heap[0][2].uid) is not heap[0]:
            heapq.heappop(heap)
        return heap[0] if heap else None

    def close(self) -> None:
        """Nobody stands here any more, and nobody will."""
        self.entry = None
        self._heap.clear()


class Lines:
    """All lines. Not thread-safe: one event loop owns it."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._lines: dict[tuple[Key, ...], Line] = {}
        self._standing: dict[str, _Entry] = {}
        self._line_of: dict[str, Line] = {}
        self._ready: list[_LineEntry] = []
        self._parked: dict[Key, list[_LineEntry]] = {}
        # Keys that lines are parked with, by when they have a token again.
        self._tokens: DeadlineQueue[Key] = DeadlineQueue()
        # What held the total back last.
        self._last: Hold | None = None
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._standing)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines.values())

    def put(self, eviction: Eviction, keys: tuple[Key, ...], place: Rank, now: float) -> None:
        """Let one join the line of its limits; it must not stand in any."""
        line = self._lines.get(keys)
        if line is None:
            line = self._lines[keys] = Line(keys)
        entry = self._standing[eviction.uid] = (place, self._number(), eviction)
        self._line_of[eviction.uid] = line
        line.push(entry, self._standing)
        if line.entry is None or place < line.entry[0]:
            if line.parked is not None and self._meters.of(line.parked).free_at(now) <= now:
                # Another line was let out for this key, and has not begun: the better one goes.
                line.parked = None
            self._enter(line, place)

    def remove(self, uid: str) -> bool:
        """Let one leave; False if it stands in no line."""
        line = self._line_of.pop(uid, None)
        if line is None:
            return False
        del self._standing[uid]
        line.size -= 1
        if line.size == 0:
            self._close(line)
        return True

    def first(self, now: float) -> Eviction | None:
        """The best one that no limit holds back; it stays where it is until `remove`."""
        while (key := self._tokens.pop_due(now)) is not None:
            self._look_at(key, now)
        total = self._meters.of(TOTAL)
        if total.free_at(now) > now:
            self._last = total.hold(TOTAL, now) if self._ready else self._last
            return None
        while self._ready:
            line = self._surface(self._ready)
            if line is None:
                return None
            key = self._blocking(line, now)
            if key is None:
                return self._first_of(line)[2]
            heapq.heappop(self._ready)
            self._park(line, key, now)
        return None

    def begun(self, keys: tuple[Key, ...], now: float) -> None:
        """One with these keys has begun, so that others of its keys may come next, or later."""
        for key in keys:
            self._look_at(key, now)

    def freed(self, keys: tuple[Key, ...], now: float) -> bool:
        """One with these keys has ended, or is not slowed down; whether that may let one begin."""
        for key in keys:
            self._look_at(key, now)
        return bool(self._ready)

    def next_free(self, now: float) -> float | None:
        """When a limit lets the next one begin; None if nothing but an ending does."""
        token = self._tokens.next_due()
        total = self._meters.of(TOTAL).free_at(now) if self._ready else math.inf
        soonest = min(total, math.inf if token is None else token)
        return None if soonest == math.inf else soonest

    def hold(self, uid: str, now: float) -> Hold | None:
        """What holds back one that stands in a line; None if it only waits for its turn."""
        line = self._line_of.get(uid)
        return None if line is None else self.hold_of(line, now)

    def hold_of(self, line: Line, now: float) -> Hold | None:
        """What holds a line back; None if nothing does."""
        if line.parked is not None:
            return line.waits
        total = self._meters.of(TOTAL)
        return total.hold(TOTAL, now) if total.free_at(now) > now else None

    def last_hold(self, uid: str) -> Hold | None:
        """What held back one that stands in a line, when anything last did."""
        line = self._line_of.get(uid)
        return None if line is None else line.waits or self._last

    def keys_of(self, uid: str) -> tuple[Key, ...] | None:
        """The keys of the line that one stands in; None if in none."""
        line = self._line_of.get(uid)
        return None if line is None else line.keys

    def evictions(self) -> list[Eviction]:
        """All who stand in a line."""
        return [entry[2] for entry in self._standing.values()]

    def _enter(self, line: Line, place: Rank) -> None:
        """Let a line be found by the rank of its first, where it is parked or among the ready."""
        line.entry = (place, self._number(), line)
        parked = line.parked
        heap = self._ready if parked is None else self._parked.setdefault(parked, [])
        heapq.heappush(heap, line.entry)
        if len(heap) > _SWEEP_ABOVE + 2 * len(self._lines):
            heap[:] = [one for one in heap if one[2].entry is one]
            heapq.heapify(heap)

    def _surface(self, heap: list[_LineEntry]) -> Line | None:
        """The line that is first in a heap, once what is outdated has been taken away."""
        while heap:
            place, _, line = heap[0]
            if line.entry is heap[0]:
                first = self._first_of(line)[0]
                if first == place:
                    return line
                heapq.heappop(heap)
                self._enter(line, first)
            else:
                heapq.heappop(heap)
        return None

    def _first_of(self, line: Line) -> _Entry:
        first = line.first(self._standing)
        if first is None:
            raise AssertionError("a line in which nobody stands is closed at once")
        return first

    def _blocking(self, line: Line, now: float) -> Key | None:
        """The key that is used up for longest; None if none is."""
        at, key = max(
            ((self._meters.of(k).free_at(now), k) for k in line.keys), default=(now, None)
        )
        return key if at > now else None

    def _park(self, line: Line, key: Key, now: float) -> None:
        line.parked = key
        line.waits = self._meters.of(key).hold(key, now)
        self._enter(line, self._first_of(line)[0])
        self._await_token(key, now)
        # It may have been let out by another key, which is still to be had.
        self.begun(tuple([other for other in line.keys if other != key]), now)

    def _look_at(self, key: Key, now: float) -> None:
        """Let out the first line that waits for a key, if the key is to be had."""
        heap = self._parked.get(key)
        line = self._surface(heap) if heap else None
        if heap is None or line is None:
            self._parked.pop(key, None)
        elif self._meters.of(key).free_at(now) > now:
            self._await_token(key, now)
        else:
            heapq.heappop(heap)
            line.parked = None
            self._enter(line, self._first_of(line)[0])

    def _await_token(self, key: Key, now: float) -> None:
        at = self._meters.of(key).free_at(now)
        if at == math.inf:
            self._tokens.cancel(key)
        else:
            self._tokens.put(key, at)

    def _close(self, line: Line) -> None:
        line.close()
        del self._lines[line.keys]

    def _number(self) -> int:
        self._sequence += 1
        return self._sequence


def place_in_line(eviction: Eviction, policies: Policies, now: float) -> Rank:
    """Those that were refused go behind, as they came: they must not use up the limits.

    That is over when a hard deadline lets them go all the same.
    """
    api = policies.eviction_api
    is_overdue = api is not None and is_past_deadline(eviction.due, api, now)
    refused = eviction.outcome in REFUSALS and not is_overdue
    place = () if refused else rank(eviction.pod, policies.drain_order)
    return refused, *place, eviction.place
