"""Those who are to be looked at once more, because something about all of them has changed.

To drop 150,000 who wait from wherever they wait, and to put them elsewhere, takes half a second, in
which no Lease is renewed. So they are only written down here, in one go, and each is looked at
later, a batch at a time. Until all have been, none of them begins, and neither does anybody else:
what held them was decided by what no longer holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.worker.timers.eviction import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.worker.gate.lines import Lines
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions


class SecondLook:
    """Who is still to be looked at, and the lines in which some stood before.

    At most one list for each reason, whatever changes how often: the later one has all whom the
    one before still had.
    """

    def __init__(self, pending: PendingEvictions) -> None:
        """Start with nobody.

        Args:
            pending: tells who still waits.
        """
        self._pending = pending
        # The first is last.
        self._governed: list[Eviction] = []
        self._in_line: list[Eviction] = []
        self._former: list[Lines] = []

    def __bool__(self) -> bool:
        return bool(self._governed or self._in_line)

    def at_all(self, held: Iterable[Eviction], lines: Lines) -> None:
        """The policies are others: look at all who are HELD, of whom some stood in these lines."""
        self._governed = list(held)[::-1]
        self._in_line = []
        self._former = [*(one for one in self._former if len(one)), lines]

    def at_those_in(self, lines: Lines) -> None:
        """Look at all who stand in these lines, which stay."""
        self._in_line = lines.evictions()[::-1]

    def next(self, lines: Lines) -> Eviction | None:
        """One to look at now; None: all have been. `lines` are those that people stand in now."""
        while self._governed:
            eviction = self._governed.pop()
            if eviction.state is State.HELD and self._pending.get(eviction.uid) is eviction:
                return eviction
        self._former.clear()
        while self._in_line:
            eviction = self._in_line.pop()
            if lines.keys_of(eviction.uid) is not None:
                return eviction
        return None

    @property
    def waiting(self) -> int:
        """How many stand in lines that no longer count."""
        return sum(len(lines) for lines in self._former)

    def standing(self, uid: str) -> Lines | None:
        """The former lines in which one still stands; None: in none."""
        return next((one for one in self._former if one.keys_of(uid) is not None), None)
