"""The wall clock, kept within what the API server's answers tell of its own.

Deadlines are instants that the cluster wrote down, so it is the cluster's clock that they are to
be compared with. Every answer carries that clock's time in whole seconds (RFC 9110, Date; written
by Go's net/http for each answer): when it was written the API server's clock stood between that
second and the next, and it was written after the request had left and before the answer came.
So each answer bounds how far the API server's clock is ahead of the time elapsed here, from both
sides, and the tightest bounds of the last minute or two are much closer than a second.

Elapsed time cannot be stepped, so the bounds hold on without any answer: a wall clock that is
stepped is found out the next time somebody asks for the time. As long as it is within them it is
believed; else a bound stands in for it: the lower one for what is due, the upper one for when a
time begins. So nothing happens early by a clock known to be wrong, and what is due is no more than
a second and a request's time late.

A lone answer that contradicts the others is not believed. The next one may confirm an earlier time;
for a later one, by which somebody might be evicted, it takes some in a row. Until the first time is
known, a later one that is only claimed counts for when a time begins, and for nothing else.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.cluster.exchanges import Exchange

# Seconds for which bounds are gathered before those of the time before are dropped: clocks drift
# apart by up to 0.5 ms a second, the most that NTP corrects them by without a step.
_WINDOW = 60.0
# An IMF-fixdate (RFC 9110, 5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`, has so many characters.
_DATE_LENGTH = 29
# No Kubernetes is older, and nobody's clock is right beyond. An API server whose machine has lost
# its time starts at 1970, and is no help.
_FIRST_YEAR, _LAST_YEAR = 2014, 2999
# So many answers in a row, over so many seconds, make a later time believed than all before told:
# of several API servers one may have a clock that is wrong.
_LATER_ANSWERS, _LATER_SECONDS = 3, 1.0
# What stands before the API server says these, by a clock of its own.
_GATEWAY_CODES = frozenset({502, 503, 504})


class _Bounds(NamedTuple):
    """By how many seconds the API server's clock, as POSIX time, is ahead of elapsed time."""

    lower: float
    upper: float

    def and_also(self, other: _Bounds) -> _Bounds:
        return _Bounds(max(self.lower, other.lower), min(self.upper, other.upper))

    @property
    def is_possible(self) -> bool:
        return self.lower <= self.upper


class _Claim(NamedTuple):
    """What some answers in a row say.

    Attributes:
        bounds: that fit them all.
        answers: how many.
        since: elapsed time of the first.
    """

    bounds: _Bounds
    answers: int
    since: float


class ClusterClock:
    """A Clock that goes by the API server's."""

    def __init__(self, machine: Clock) -> None:
        """Go by the wall clock of this machine alone, until the first answer.

        Args:
            machine: its clocks.
        """
        self._machine = machine
        # The tightest together; those of this window; those of the one before.
        self._known: _Bounds | None = None
        self._recent: _Bounds | None = None
        self._older: _Bounds | None = None
        self._began = 0.0
        # What the latest answers say against that.
        self._claim: _Claim | None = None

    def now(self) -> datetime:
        """See Clock."""
        return self._wall_or(attrgetter("lower"))

    def latest(self) -> datetime:
        """See Clock. Before any time is known for sure, the latest that an answer claims.

        Whatever is said to have begun by a clock that turns out to be behind would be due at once,
        and noted so: better that it counts from too late an instant.
        """
        if self._known is None and self._claim is not None:
            claimed = self._machine.elapsed() + self._claim.bounds.upper
            return max(self._machine.now(), datetime.fromtimestamp(claimed, UTC))
        return self._wall_or(attrgetter("upper"))

    def _wall_or(self, bound: Callable[[_Bounds], float]) -> datetime:
        """The wall clock, or where it is beyond its bounds this one of them."""
        wall, known = self._machine.now(), self._known
        elapsed = self._machine.elapsed()
        if known is None or known.lower <= wall.timestamp() - elapsed <= known.upper:
            return wall
        return datetime.fromtimestamp(elapsed + bound(known), UTC)

    def monotonic(self) -> float:
        """See Clock."""
        return self._machine.monotonic()

    def elapsed(self) -> float:
        """See Clock."""
        return self._machine.elapsed()

    def skew(self) -> float:
        """Seconds by which the wall clock is beyond its bounds: above 0 it is ahead.

        0 where it may be right, and before the first answer.
        """
        if self._known is None:
            return 0.0
        ahead = self._wall_ahead()
        return max(0.0, ahead - self._known.upper) + min(0.0, ahead - self._known.lower)

    def answered(self, exchange: Exchange) -> None:
        """An answer has come this moment; see bailiff.cluster.exchanges. Never raises."""
        date = _instant(exchange.date)
        if date is None or exchange.code in _GATEWAY_CODES:
            return
        received = self._machine.elapsed()
        told = _Bounds(date - received, date + 1.0 - (received - max(0.0, exchange.seconds)))
        known = self._known
        if known is not None and known.and_also(told).is_possible:
            self._narrow(told, received)
            return
        # One of the clocks was stepped, or this machine did not notice that it slept; or it is the
        # answer that is wrong, which others then contradict.
        later = told.lower > (self._wall_ahead() if known is None else known.upper)
        if (known is None and not later) or self._is_confirmed(told, received, later=later):
            self._begin(told, received)

    def _is_confirmed(self, told: _Bounds, at: float, *, later: bool) -> bool:
        """Whether the latest answers agree in this, and enough of them for long enough.

        A later time than was known may evict somebody, so more of them are needed for that.
        """
        claim = self._claim
        if claim is None or not claim.bounds.and_also(told).is_possible:
            self._claim = _Claim(told, 1, at)
            return False
        self._claim = claim = _Claim(claim.bounds.and_also(told), claim.answers + 1, claim.since)
        if not later:
            return True
        return claim.answers >= _LATER_ANSWERS and at - claim.since >= _LATER_SECONDS

    def _wall_ahead(self) -> float:
        return self._machine.now().timestamp() - self._machine.elapsed()

    def _begin(self, told: _Bounds, at: float) -> None:
        self._known = self._recent = told
        self._older = self._claim = None
        self._began = at

    def _narrow(self, told: _Bounds, at: float) -> None:
        self._claim = None
        if self._recent is None or at - self._began >= _WINDOW:
            self._older, self._recent, self._began = self._recent, told, at
        else:
            self._recent = self._recent.and_also(told)
        self._known = self._recent if self._older is None else self._recent.and_also(self._older)


class SkewAlarm:
    """Says that this machine's wall clock is wrong, where it is by more than a limit."""

    def __init__(self, clock: ClusterClock, limit: float) -> None:
        """Watch.

        Args:
            clock: what tells.
            limit: seconds, above 0.
        """
        self._clock = clock
        self._limit = limit

    def complaints(self) -> list[str]:
        """What is wrong, for people; empty if nothing is."""
        skew = self._clock.skew()
        if abs(skew) <= self._limit:
            return []
        where = "ahead of" if skew > 0 else "behind"
        apart = timedelta(seconds=round(abs(skew)))
        return [f"this machine's clock is {apart} {where} the API server's"]


def _instant(date: str) -> float | None:
    """A Date header as POSIX second; None for what cannot be one."""
    if len(date) != _DATE_LENGTH or not date.endswith(" GMT"):
        return None
    try:
        instant = parsedate_to_datetime(date)
    except ValueError:
        return None
    in_range = _FIRST_YEAR <= instant.year <= _LAST_YEAR
    return instant.timestamp() if in_range and instant.tzinfo is not None else None
