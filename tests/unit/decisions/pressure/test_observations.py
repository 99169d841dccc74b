"""What is left of each signal, by what a kubelet or a Windows node measures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bailiff.decisions.pressure.container_fs import with_container_fs
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.decisions.pressure.layout import Layout, ReclaimStep, reclaim_steps
from bailiff.decisions.pressure.observations import Metering, is_newer, measured_at, observe
from bailiff.decisions.pressure.observed import Observation
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.kinds import decode
from bailiff.kinds.stats import Summary


def summary(**node: Any) -> Summary:
    return decode(json.dumps({"node": node}).encode(), Summary)


def left(found: dict[Signal, Observation]) -> dict[str, tuple[int, int]]:
    return {one.signal.value: (one.available, one.capacity) for one in found.values()}


COMMIT = {
    "name": "windows-global-commit-memory",
    "memory": {"availableBytes": 3, "usageBytes": 4, "workingSetBytes": 9},
}


def test_of_windows_what_may_still_be_committed_counts() -> None:
    told = summary(systemContainers=[COMMIT], memory={"availableBytes": 1, "workingSetBytes": 1})
    assert left(observe(told, Metering(windows=True))) == {"memory.available": (3, 7)}
    assert left(observe(told)) == {"memory.available": (1, 2)}


def test_windows_without_its_container_has_no_memory_signal() -> None:
    told = summary(memory={"availableBytes": 1, "workingSetBytes": 1})
    assert observe(told, Metering(windows=True)) == {}


def test_more_processes_than_there_may_be_are_less_than_none() -> None:
    assert left(observe(summary(rlimit={"maxpid": 5, "curproc": 9}))) == {"pid.available": (-4, 5)}


NOON, LATER = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seen", "last", "newer"),
    [
        (NOON, {}, True),
        (None, {Signal.PID_AVAILABLE: NOON}, True),
        (NOON, {Signal.PID_AVAILABLE: None}, True),
        (NOON, {Signal.PID_AVAILABLE: NOON}, False),
        (NOON, {Signal.PID_AVAILABLE: LATER}, False),
        (LATER, {Signal.PID_AVAILABLE: NOON}, True),
    ],
)
def test_what_is_newer(
    seen: datetime | None, last: dict[Signal, datetime | None], newer: bool
) -> None:
    one = Observation(signal=Signal.PID_AVAILABLE, available=1, capacity=2, time=seen)
    assert is_newer(one, last) is newer


@pytest.mark.parametrize(
    ("fields", "oldest"),
    [
        ({}, None),
        ({"memory": {}, "fs": {}, "runtime": {}}, None),
        ({"memory": {"time": LATER}, "fs": {"time": NOON}}, NOON),
        ({"memory": {"time": NOON}, "fs": {"time": LATER}}, NOON),
        ({"memory": {"time": LATER}, "runtime": {"imageFs": {"time": NOON}}}, NOON),
        ({"memory": {"time": LATER}, "runtime": {"containerFs": {"time": NOON}}}, LATER),
        ({"memory": {"time": LATER}, "rlimit": {"time": NOON}}, LATER),
    ],
)
def test_when_a_node_was_measured(fields: dict[str, Any], oldest: datetime | None) -> None:
    told = json.loads(json.dumps(fields, default=datetime.isoformat))
    assert measured_at(summary(**told).node) == oldest


SMALL, LARGE = {"capacityBytes": 1, "inodes": 1}, {"capacityBytes": 2, "inodes": 2}


@pytest.mark.parametrize(
    ("images", "layers", "layout"),
    [
        (SMALL, SMALL, Layout.SINGLE),
        (LARGE, LARGE, Layout.DEDICATED),
        (LARGE, SMALL, Layout.SPLIT),
        (SMALL, LARGE, Layout.STRAY),
        (None, None, Layout.SINGLE),
    ],
)
def test_a_layout_by_sizes(images: Any, layers: Any, layout: Layout) -> None:
    found = derive_layout(summary(fs=SMALL, runtime={"imageFs": images, "containerFs": layers}))
    assert Layout.of(found.dedicated_image_fs, found.split_container_image_fs) is layout


@pytest.mark.parametrize(
    "later",
    [
        {"inodes": 7},
        {"inodes": 7, "inodesFree": 2, "availableBytes": 4},
        {"capacityBytes": None, "inodes": None},
    ],
)
def test_a_layout_stays_while_the_disk_gets_full(later: dict[str, int | None]) -> None:
    # XFS makes inodes of free blocks, and the kubelet looks at a disk twice for one summary.
    first = {"capacityBytes": 100, "availableBytes": 9, "inodes": 9, "inodesFree": 4}
    second = {key: value for key, value in (first | later).items() if value is not None}
    found = derive_layout(summary(fs=first, runtime={"imageFs": second, "containerFs": first}))
    assert found == FileSystemLayout()


BOTH = (ReclaimStep.UNUSED_CONTAINERS, ReclaimStep.UNUSED_IMAGES)


@pytest.mark.parametrize(
    ("signal", "layout", "steps"),
    [
        (Signal.MEMORY_AVAILABLE, Layout.SINGLE, ()),
        (Signal.PID_AVAILABLE, Layout.SPLIT, ()),
        (Signal.NODEFS_AVAILABLE, Layout.SINGLE, BOTH),
        (Signal.NODEFS_INODES_FREE, Layout.DEDICATED, ()),
        (Signal.CONTAINERFS_AVAILABLE, Layout.DEDICATED, BOTH),
        (Signal.IMAGEFS_AVAILABLE, Layout.SPLIT, BOTH[1:]),
        (Signal.NODEFS_AVAILABLE, Layout.SPLIT, BOTH[:1]),
    ],
)
def test_what_is_freed_first(
    signal: Signal, layout: Layout, steps: tuple[ReclaimStep, ...]
) -> None:
    assert reclaim_steps(signal, layout) == steps


def threshold(signal: Signal, least: int) -> Threshold:
    return Threshold(signal=signal, value=ThresholdValue(quantity=str(least)))


@pytest.mark.parametrize(
    ("layout", "least"), [(Layout.SINGLE, 1), (Layout.SPLIT, 1), (Layout.DEDICATED, 2)]
)
def test_containerfs_has_the_threshold_of_its_file_system(layout: Layout, least: int) -> None:
    own = [threshold(Signal.NODEFS_AVAILABLE, 1), threshold(Signal.IMAGEFS_AVAILABLE, 2)]
    expected = threshold(Signal.CONTAINERFS_AVAILABLE, least)
    assert with_container_fs(own, layout, first_round=False) == (*own, expected)
    assert with_container_fs(own, layout, first_round=True) == tuple(own)
    told = [*own, threshold(Signal.CONTAINERFS_AVAILABLE, 9)]
    assert with_container_fs(told, layout, first_round=True) == (*own, expected)


def test_where_writable_layers_alone_are_elsewhere_thresholds_stay_as_they_are() -> None:
    told = [threshold(Signal.NODEFS_AVAILABLE, 1), threshold(Signal.CONTAINERFS_AVAILABLE, 9)]
    assert with_container_fs(told, Layout.STRAY, first_round=False) == tuple(told)
