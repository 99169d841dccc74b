"""Clocks that tests move."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import looptime

from bailiff.clock import SystemClock

# Nothing is ready, so time may move: turning round 42 times before, as looptime does by itself,
# would be most of the time that tests on virtual time take.
NOOP_CYCLES = 0
START = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """Stands still until it is told to move."""

    def __init__(self, start: datetime = START, passed: float = 0.0) -> None:
        self._start = start
        self._passed = passed

    def advance(self, seconds: float) -> None:
        self._passed += seconds

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def latest(self) -> datetime:
        return self.now()

    def elapsed(self) -> float:
        return self._passed


class LoopClock:
    """The event loop's time, which looptime makes virtual.

    Attributes:
        step: by how much the wall clock has been stepped away from it.
        slept: seconds that the machine was suspended, which the loop's time has not seen.
    """

    def __init__(self) -> None:
        self.step = timedelta()
        self.slept = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.elapsed()) + self.step

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def latest(self) -> datetime:
        return self.now()

    def elapsed(self) -> float:
        return self.monotonic() + self.slept


def virtual_loop() -> asyncio.AbstractEventLoop:
    """A loop on virtual time, for whoever needs more than one in a test."""
    return looptime.new_event_loop(noop_cycles=NOOP_CYCLES)


class JumpingClock(SystemClock):
    """The machine's time, and what a test does not care to wait for.

    A worker looks at its clock every second, so it is at most a second late to see a jump.
    """

    def __init__(self) -> None:
        self._skipped = 0.0

    def skip(self, seconds: float) -> None:
        self._skipped += seconds

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._skipped)

    def monotonic(self) -> float:
        return super().monotonic() + self._skipped

    def elapsed(self) -> float:
        return super().elapsed() + self._skipped
