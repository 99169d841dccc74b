"""Clocks that tests move."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class ManualClock:
    """Stands still until it is told to move."""

    def __init__(self) -> None:
        self._passed = 0.0

    def advance(self, seconds: float) -> None:
        self._passed += seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed


class LoopClock:
    """The event loop's time, which looptime makes virtual."""

    def now(self) -> datetime:
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()
