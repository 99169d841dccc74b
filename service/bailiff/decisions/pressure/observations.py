"""From a kubelet's summary to what is available of each signal, and which thresholds that meets.

Source: makeSignalObservations and thresholdsMet in pkg/kubelet/eviction/helpers.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.pressure.extensions import MemoryAvailable, MemoryInUse, StallWindow
from bailiff.decisions.pressure.observed import Observation, as_int64
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.stalls import observe_extras
from bailiff.kinds.quantity import NANO
from bailiff.kinds.stats import RuntimeStats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds.stats import FsStats, MemoryStats, NodeStats, RlimitStats, Summary

# The system containers whose memory is a signal (k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go).
PODS_CONTAINER = "pods"
WINDOWS_COMMIT_CONTAINER = "windows-global-commit-memory"


class Metering(NamedTuple):
    """How a summary is read.

    Attributes:
        windows: memory is what may still be committed, see helpers_windows.go.
        memory: what counts as in use.
        mem_available: what the node's kernel estimates, where that is to count.
        huge_pages: bytes that are set aside and that the summary calls available.
        window: over which stalls are averaged.
    """

    windows: bool = False
    memory: MemoryInUse = MemoryInUse.WORKING_SET
    mem_available: MemoryAvailable | None = None
    huge_pages: int = 0
    window: StallWindow = StallWindow.TEN_SECONDS


AS_THE_KUBELET = Metering()


def observe(summary: Summary, metering: Metering = AS_THE_KUBELET) -> dict[Signal, Observation]:
    """What a summary says of each signal; one of which a number is missing is left out.

    Args:
        summary: of the node.
        metering: how it is read.
    """
    node = summary.node
    runtime = node.runtime or RuntimeStats()
    found = [
        _committed(node) if metering.windows else _of_node(node, metering),
        _memory(Signal.ALLOCATABLE_MEMORY_AVAILABLE, node, metering.memory),
        *_file_system(Signal.NODEFS_AVAILABLE, Signal.NODEFS_INODES_FREE, node.fs),
        *_file_system(Signal.IMAGEFS_AVAILABLE, Signal.IMAGEFS_INODES_FREE, runtime.image_fs),
        *_file_system(
            Signal.CONTAINERFS_AVAILABLE,
            Signal.CONTAINERFS_INODES_FREE,
            runtime.container_fs,
        ),
        _processes(node.rlimit),
        *observe_extras(node, metering.window),
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


def measured_at(node: NodeStats) -> datetime | None:
    """When the oldest was measured of a node's memory and disks; None: it does not say.

    By this a node's stats are new or old, whoever asks. Not by what stands beside: a kubelet that
    cannot count processes any more still knows its memory.
    """
    images = None if node.runtime is None else node.runtime.image_fs
    parts = (node.memory, node.fs, images)
    times = [one.time for one in parts if one is not None and one.time is not None]
    return min(times, default=None)


def memory_measured(signal: Signal, node: NodeStats) -> MemoryStats | None:
    """The memory that a signal is about: of the node, or of all its pods together."""
    if signal is Signal.ALLOCATABLE_MEMORY_AVAILABLE:
        return _memory_of(node, PODS_CONTAINER)
    return node.memory


def _memory_of(node: NodeStats, container: str) -> MemoryStats | None:
    for one in node.system_containers:
        if one.name == container:
            return one.memory
    return None


def _of_node(node: NodeStats, metering: Metering) -> Observation | None:
    told = metering.mem_available
    in_use = metering.memory if told is None else MemoryInUse.WORKING_SET
    seen = _memory(Signal.MEMORY_AVAILABLE, node, in_use)
    if seen is not None and metering.huge_pages:
        taken = min(metering.huge_pages, max(seen.available, 0))
        left, capacity = seen.available - taken, as_int64(seen.capacity - taken)
        seen = replace(seen, available=left, capacity=capacity)
    if seen is None or told is None:
        return seen
    return replace(seen, available=told.available_bytes, time=told.time)


def _memory(signal: Signal, node: NodeStats, in_use: MemoryInUse) -> Observation | None:
    memory = memory_measured(signal, node)
    if memory is None:
        return None
    left, used = memory.available_bytes, memory.working_set_bytes
    seen = _observation(signal, left, used, memory.time, used=True)
    if seen is None or in_use is MemoryInUse.WORKING_SET:
        return seen
    if memory.rss_bytes is None:
        return None
    return replace(seen, available=as_int64(seen.capacity - memory.rss_bytes))


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
