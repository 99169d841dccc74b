"""What the REST face answers from: a clock that stands."""

from datetime import UTC, datetime

from tests.harness.clocks import ManualClock

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
CLOCK = ManualClock(NOW)
