"""When memory is looked at before a round is due, by cases of Kubernetes' own code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.notifying import (
    commit_is_low,
    marks_for_pods,
    usage_mark,
    usage_marks,
)
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


MARK = 9558818816
MIB = 2**20


def test_each_mark_is_followed_by_some_a_little_further_on() -> None:
    marks = usage_marks([of("100Mi")], node(MEASURED))[Signal.MEMORY_AVAILABLE]
    assert [one - MARK for one in marks] == [step * MIB for step in (0, 1, 4, 16, 64, 256)]


def test_marks_that_have_been_passed_are_left_out() -> None:
    used = MEASURED | {"usageBytes": 9 * GI, "workingSetBytes": 8 * GI, "availableBytes": 0}
    marks = usage_marks([of("100Mi")], node(used))[Signal.MEMORY_AVAILABLE]
    assert all(one > 9 * GI for one in marks)
    assert len(marks) < 6


def test_thresholds_that_only_tell_and_those_of_disks_have_no_marks() -> None:
    disk = settings({"nodefs.available": "10%"}).thresholds
    quiet = replace(of("100Mi"), dry_run=True)
    assert usage_marks([*disk, quiet], node(MEASURED)) == {}


def test_marks_of_the_node_in_what_its_pods_use() -> None:
    pods = [{"name": "pods", "memory": MEASURED | {"usageBytes": 2 * GI}}]
    measured = node(MEASURED, systemContainers=pods)
    marks = usage_marks([of("100Mi")], measured)
    # 4 GiB of the 6 are in use beside the pods.
    assert marks_for_pods(marks, measured)[0] == MARK - 4 * GI


def test_where_the_pods_are_not_measured_they_have_no_marks() -> None:
    assert marks_for_pods(usage_marks([of("100Mi")], node(MEASURED)), node(MEASURED)) == ()
