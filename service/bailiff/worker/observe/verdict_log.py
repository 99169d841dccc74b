"""The log tells what probes do not: what is wrong by name, with the last errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.serving import Complaint, Verdicts

# Seconds for which a check has to fail, as each does at a start, and between two lines of one.
_PATIENCE, _PERIOD = 10.0, 60.0
# Of all that one check complains of.
_LONGEST = 1000

log = structlog.get_logger(__name__)


class VerdictLog:
    """Writes a line for a check that fails, and again each minute while it does."""

    def __init__(self, clock: Clock) -> None:
        """Nothing is wrong yet."""
        self._clock = clock
        self._since: dict[str, float] = {}
        self._next: dict[str, float] = {}

    def noted(self, verdicts: Verdicts) -> Verdicts:
        """Tell of what is wrong by now; returns what it is given."""
        now = self._clock.monotonic()
        failing = _by_check((*verdicts.health, *verdicts.readiness))
        self._since = {check: self._since.get(check, now) for check in failing}
        for check, details in failing.items():
            self._tell(check, details, now)
        return verdicts

    def _tell(self, check: str, details: list[str], now: float) -> None:
        seconds = now - self._since[check]
        if seconds < _PATIENCE or now < self._next.get(check, now):
            return
        self._next[check] = now + _PERIOD
        why = "; ".join(details)[:_LONGEST]
        log.warning("check fails", check=check, why=why, seconds=round(seconds))


def _by_check(complaints: tuple[Complaint, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for check, detail in complaints:
        found.setdefault(check, []).append(detail)
    return found
