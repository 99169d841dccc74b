"""The time port. The core takes instants as arguments; everything else asks a Clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

# Linux' clock that goes on while the machine sleeps (clock_gettime(2)); CLOCK_MONOTONIC, which
# the event loop waits by, stands still then. Where there is none, as on macOS, CLOCK_MONOTONIC
# is the best there is.
_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Where instants and waits come from.

    Three readings for three questions. What the cluster writes down, such as a deadline, is a
    wall-clock instant. How much time has passed since something is a difference of `elapsed`.
    The event loop waits by `monotonic`, which stands still while the machine sleeps: so nothing
    waits longer than a second before it asks one of the others.
    """

    def now(self) -> datetime:
        """The wall-clock instant, in UTC; it may be stepped either way.

        Where the true one is known only roughly this is the earliest that it can be, so that what
        is due by it is due.
        """
        ...

    def latest(self) -> datetime:
        """As `now`, but the latest that it can be: for the start of a time that is to pass."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed point, never stepped; the event loop's own time."""
        ...

    def elapsed(self) -> float:
        """Seconds since some fixed point, never stepped; those the machine slept count."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """See Clock."""
        return datetime.now(UTC)

    def latest(self) -> datetime:
        """See Clock."""
        return self.now()

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()

    def elapsed(self) -> float:
        """See Clock."""
        return time.clock_gettime(_ELAPSED)


class Moment(NamedTuple):
    """When something is, by both kinds of time.

    Attributes:
        now: in UTC.
        elapsed: seconds, by the clock's `elapsed`.
    """

    now: datetime
    elapsed: float


class SteadyTime:
    """Instants that go by the time that has passed since the first of them was asked for.

    Grace periods that are counted by them are cut short by no clock step.
    """

    def __init__(self, clock: Clock) -> None:
        """Ask the clock for nothing yet."""
        self._clock = clock
        self._anchor: datetime | None = None

    def now(self) -> datetime:
        """In UTC."""
        since = timedelta(seconds=self._clock.elapsed())
        if self._anchor is None:
            self._anchor = self._clock.now() - since
        return self._anchor + since
