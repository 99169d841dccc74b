"""How properties are searched, which files run first, how many tests of each tier ran."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.harness.clocks import NOOP_CYCLES
from tests.harness.fuzzing import FUZZ, is_fuzzed

# No timed assertion, hidden ones included: a busy machine is no failure. On CI the same examples
# every time, elsewhere new ones.
settings.register_profile(
    "bailiff",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(FUZZ, settings.get_profile("bailiff"), derandomize=False)
settings.load_profile("bailiff")

# Processes that tests start side by side: the usual port has room for one.
os.environ["BAILIFF_HEALTH_PORT"] = "0"

# A test belongs to the first tier whose marker it carries; "unit" is what carries none.
TIERS = ("helm", "image", "node", "kube_apiserver", "demo", "process", "schema")
DEFAULT_TIER = "unit"
_SHOWN = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}
# Tests of these wait for servers and for time, so their files are the longest.
_LONGEST_FIRST = ("process", "kube_apiserver", "node", "helm", "demo", "schema")


def pytest_configure() -> None:
    # looptime asks for the current loop even for tests that have none; one made for it then would
    # never be closed, and its ResourceWarning would fail whichever test it surfaces in.
    asyncio.set_event_loop(None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if re.search(r" at 0x[0-9a-f]+", item.nodeid):
            raise pytest.UsageError(f"{item.nodeid}: each process gives it another name")
        # A property of the report, which is all that comes back from another process.
        item.user_properties.append(("tier", _first_marker(item, TIERS)))
        if is_hypothesis_test(getattr(item, "obj", None)):
            # Examples by the hundred run the same lines, and under coverage, which then tells
            # nothing new, they take 2.5 times as long.
            item.add_marker(pytest.mark.no_cover)
            if is_fuzzed(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.fuzzed)
        if item.get_closest_marker("looptime"):
            item.add_marker(pytest.mark.looptime(noop_cycles=NOOP_CYCLES))
    if hasattr(config, "workerinput"):
        # Files are handed out in this order; short ones at the end let all processes end at once.
        ranks = _ranks(items)
        items.sort(key=lambda item: ranks[item.path])


def _first_marker(item: pytest.Item, names: tuple[str, ...]) -> str:
    return next((name for name in names if item.get_closest_marker(name)), DEFAULT_TIER)


def _ranks(items: list[pytest.Item]) -> dict[object, int]:
    """Each file's place, by its longest kind of test."""
    order = (*_LONGEST_FIRST, DEFAULT_TIER)
    ranks: dict[object, int] = {}
    for item in items:
        rank = order.index(_first_marker(item, _LONGEST_FIRST))
        ranks[item.path] = min(rank, ranks.get(item.path, rank))
    return ranks


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for outcome, shown in _SHOWN.items():
        for report in terminalreporter.stats.get(outcome, ()):
            tier = dict(getattr(report, "user_properties", ())).get("tier", DEFAULT_TIER)
            counts[tier, shown] += 1
    terminalreporter.section("tiers")
    for tier in (DEFAULT_TIER, *TIERS):
        passed, failed, skipped = (counts[tier, s] for s in ("passed", "failed", "skipped"))
        terminalreporter.line(f"{tier:15} {passed} passed, {failed} failed, {skipped} skipped")
