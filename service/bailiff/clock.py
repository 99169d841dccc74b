"""The time port. The core takes instants as arguments; everything else asks a Clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where instants and waits come from.

    Deadlines are wall-clock instants, because the cluster writes those down; waits are
    monotonic, because the wall clock may be stepped.
    """

    def now(self) -> datetime:
        """The wall-clock instant, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed point, never stepped; the event loop's own time."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """See Clock."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()
