"""Instants of rounds: the grace periods that are counted by them are cut short by no clock step."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.clock import Clock


class Moment(NamedTuple):
    """When something is, by both kinds of time.

    Attributes:
        now: in UTC.
        elapsed: seconds, by the clock's `elapsed`.
    """

    now: datetime
    elapsed: float


class SteadyTime:
    """Instants that go by the time that has passed since the first of them was asked for."""

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
