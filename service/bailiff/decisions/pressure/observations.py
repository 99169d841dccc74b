"""From a kubelet's summary to what is available of each signal, and which thresholds that meets.

Source: makeSignalObservations and thresholdsMet in pkg/kubelet/eviction/helpers.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.meta import Int64, Time, Value
from bailiff.kinds.quantity import NANO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds.stats import FsStats, MemoryStats, NodeStats, RlimitStats, Summary

# The system containers whose memory is a signal (k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go).
PODS_CONTAINER = "pods"
WINDOWS_COMMIT_CONTAINER = "windows-global-commit-memory"


class Observation(Value, frozen=True):
    """How much of a signal is left.

    Attributes:
        signal: what was measured.
        available: left, in bytes, inodes or processes; may be negative.
        capacity: in all, in the same unit.
        time: when it was measured; absent: the kubelet does not say, and it counts as new.
    """

    signal: Signal
    available: Int64
    capacity: Int64
    time: Time | None = None


def observe(summary: Summary, *, windows: bool = False) -> dict[Signal, Observation]:
    """What a summary says of each signal; one of which a number is missing is left out.

    Args:
        summary: of the node.
        windows: its memory is what may still be committed, see helpers_windows.go.
    """
    node = summary.node
    runtime = node.runtime
    found = [
        _committed(node) if windows else _memory(Signal.MEMORY_AVAILABLE, node.memory),
        _memory(Signal.ALLOCATABLE_MEMORY_AVAILABLE, _memory_of(node, PODS_CONTAINER)),
        *_file_system(Signal.NODEFS_AVAILABLE, Signal.NODEFS_INODES_FREE, node.fs),
        *_file_system(
            Signal.IMAGEFS_AVAILABLE, Signal.IMAGEFS_INODES_FREE, runtime and runtime.image_fs
        ),
        *_file_system(
            Signal.CONTAINERFS_AVAILABLE,
            Signal.CONTAINERFS_INODES_FREE,
            runtime and runtime.container_fs,
        ),
        _processes(node.rlimit),
    ]
    return {one.signal: one for one in found if one is not None}


def met(
    thresholds: Iterable[Threshold],
    observations: Mapping[Signal, Observation],
    *,
    reclaimed: bool = False,
) -> list[Threshold]:
    """Those thresholds below which a node is, whatever their grace periods.

    Args:
        thresholds: to look at; one without an observation is not met.
        observations: what is available.
        reclaimed: below the value and its minimum reclaim: what was met stays met until so much
            more is available.
    """
    return [
        one
        for one in thresholds
        if (seen := observations.get(one.signal)) is not None
        and one.amount(seen.capacity, reclaimed=reclaimed) > seen.available * NANO
    ]


def is_newer(seen: Observation, last: Mapping[Signal, datetime | None]) -> bool:
    """It was measured after what the last round saw, so that it may be acted upon.

    As thresholdsUpdatedStats: what was not seen in the last round, and what has no time, is new.
    """
    if seen.time is None or seen.signal not in last:
        return True
    before = last[seen.signal]
    return before is None or seen.time > before


def as_int64(number: int) -> int:
    """A sum of Go uint64s, taken as an int64: it wraps around, as upstream's does."""
    return (number + 2**63) % 2**64 - 2**63


def _memory_of(node: NodeStats, container: str) -> MemoryStats | None:
    for one in node.system_containers:
        if one.name == container:
            return one.memory
    return None


def _memory(signal: Signal, memory: MemoryStats | None) -> Observation | None:
    if memory is None:
        return None
    return _observation(
        signal, memory.available_bytes, memory.working_set_bytes, memory.time, used=True
    )


def _committed(node: NodeStats) -> Observation | None:
    memory = _memory_of(node, WINDOWS_COMMIT_CONTAINER)
    if memory is None:
        return None
    left, used = memory.available_bytes, memory.usage_bytes
    return _observation(Signal.MEMORY_AVAILABLE, left, used, memory.time, used=True)


def _file_system(
    available: Signal, inodes: Signal, fs: FsStats | None
) -> tuple[Observation | None, ...]:
    if fs is None:
        return ()
    return (
        _observation(available, fs.available_bytes, fs.capacity_bytes, fs.time),
        _observation(inodes, fs.inodes_free, fs.inodes, fs.time),
    )


def _processes(limit: RlimitStats | None) -> Observation | None:
    if limit is None or limit.curproc is None or limit.maxpid is None:
        return None
    left = as_int64(limit.maxpid - limit.curproc)
    return Observation(
        signal=Signal.PID_AVAILABLE, available=left, capacity=limit.maxpid, time=limit.time
    )


def _observation(
    signal: Signal,
    available: int | None,
    other: int | None,
    time: datetime | None,
    *,
    used: bool = False,
) -> Observation | None:
    """Of what is left and the capacity, or, with `used`, what is left and what is in use."""
    if available is None or other is None:
        return None
    capacity = available + other if used else other
    return Observation(
        signal=signal, available=as_int64(available), capacity=as_int64(capacity), time=time
    )
