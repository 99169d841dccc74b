"""When memory is looked at before a round is due, by cases of Kubernetes' own code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.notifying import commit_is_low, usage_mark
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.kinds import decode
from bailiff.kinds.stats import NodeStats
from tests.unit.decisions.pressure.scene import settings

GI = 2**30
MEASURED = {"availableBytes": 3 * GI, "workingSetBytes": 5 * GI, "usageBytes": 6 * GI}


def of(value: str, signal: Signal = Signal.MEMORY_AVAILABLE) -> Threshold:
    (one,) = settings({"memory.available": value}).thresholds
    return replace(one, signal=signal)


def node(memory: dict[str, Any], **others: Any) -> NodeStats:
    return decode(json.dumps({"memory": memory} | others).encode(), NodeStats)


# What upstream's UpdateThreshold writes, measured on it.
@pytest.mark.parametrize(
    ("value", "mark"), [("100Mi", 9558818816), ("10%", 8804682944), ("1500m", 9 * GI - 1)]
)
def test_the_mark_is_what_may_be_in_use_with_the_cache_that_may_be_dropped(
    value: str, mark: int
) -> None:
    assert usage_mark(of(value), node(MEASURED)) == mark


def test_for_all_pods_together_their_own_memory_counts() -> None:
    one = of("100Mi", Signal.ALLOCATABLE_MEMORY_AVAILABLE)
    assert usage_mark(one, node(MEASURED)) is None
    pods = [{"name": "pods", "memory": MEASURED | {"usageBytes": 5 * GI}}]
    assert usage_mark(one, node(MEASURED, systemContainers=pods)) == 9558818816 - GI


@pytest.mark.parametrize("missing", MEASURED)
def test_where_something_was_not_measured_there_is_no_mark(missing: str) -> None:
    memory = {name: value for name, value in MEASURED.items() if name != missing}
    assert usage_mark(of("100Mi"), node(memory)) is None


@pytest.mark.parametrize(
    ("value", "total", "low"),
    [
        ("1Gi", 7 * GI - 1, False),
        ("1Gi", 7 * GI, True),
        ("1Gi", 8 * GI, True),
        ("25%", 6 * GI - 1, False),
        ("25%", 6 * GI, True),
        # The value of a quantity is rounded up.
        ("1500m", 8 * GI - 2, True),
        ("1500m", 8 * GI - 3, False),
    ],
)
def test_windows_looks_at_what_may_still_be_committed(value: str, total: int, low: bool) -> None:
    assert commit_is_low(of(value), 8 * GI, total) is low
