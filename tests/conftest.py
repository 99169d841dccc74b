"""How properties are searched, and at the end how many tests of each tier ran."""

from __future__ import annotations

import asyncio
import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# No timed assertion, hidden ones included: a busy machine is no failure. On CI the same examples
# every time, elsewhere new ones.
settings.register_profile(
    "bailiff",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bailiff")

# A test belongs to the first tier whose marker it carries; "unit" is what carries none.
TIERS = ("helm", "kube_apiserver", "embedded", "process", "schema")
DEFAULT_TIER = "unit"
_SHOWN = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}


def pytest_configure() -> None:
    # looptime asks for the current loop even for tests that have none; one made for it then would
    # never be closed, and its ResourceWarning would fail whichever test it surfaces in.
    asyncio.set_event_loop(None)


_tier_of: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        tier = next((tier for tier in TIERS if item.get_closest_marker(tier)), DEFAULT_TIER)
        _tier_of[item.nodeid] = tier
        if is_hypothesis_test(getattr(item, "obj", None)):
            # Examples by the hundred run the same lines, and under coverage, which then tells
            # nothing new, they take 2.5 times as long.
            item.add_marker(pytest.mark.no_cover)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for outcome, shown in _SHOWN.items():
        for report in terminalreporter.stats.get(outcome, ()):
            counts[_tier_of.get(report.nodeid, DEFAULT_TIER), shown] += 1
    terminalreporter.section("tiers")
    for tier in (DEFAULT_TIER, *TIERS):
        passed, failed, skipped = (counts[tier, s] for s in ("passed", "failed", "skipped"))
        terminalreporter.line(f"{tier:15} {passed} passed, {failed} failed, {skipped} skipped")
