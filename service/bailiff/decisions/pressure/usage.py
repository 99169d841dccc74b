"""What a pod uses of a resource, by what was measured of it.

Source: podDiskUsage, memoryUsage and processUsage in pkg/kubelet/eviction/helpers.go, and which
parts count under which layout: buildSignalToRankFunc. What is missing counts as nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.extensions import (
    NO_EXTENSIONS,
    MemoryInUse,
    PressureExtensions,
)
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.observed import as_int64
from bailiff.decisions.pressure.signals import (
    CPU,
    EPHEMERAL_STORAGE,
    INODES,
    IO,
    MEMORY,
    SWAP,
    Signal,
)
from bailiff.decisions.pressure.stalls import stall_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.kinds import Pod
    from bailiff.kinds.stats import FsStats, MemoryStats, PodStats

_ROOT, _LOGS, _VOLUMES = "root", "logs", "volumes"
_ALL = frozenset({_ROOT, _LOGS, _VOLUMES})
_NODE = frozenset({Signal.NODEFS_AVAILABLE, Signal.NODEFS_INODES_FREE})
_IMAGES = frozenset({Signal.IMAGEFS_AVAILABLE, Signal.IMAGEFS_INODES_FREE})


def used_by(
    pod: Pod,
    stats: PodStats,
    signal: Signal,
    layout: Layout,
    extensions: PressureExtensions = NO_EXTENSIONS,
) -> int:
    """Bytes, inodes or processes that count; of our own signals see docs/pressure/extensions.md."""
    resource = signal.resource
    if resource == MEMORY:
        return as_int64(memory_in_use(stats.memory, extensions.memory_in_use) or 0)
    if resource == SWAP:
        swap = stats.swap
        return as_int64(0 if swap is None else swap.swap_usage_bytes or 0)
    if resource == IO:
        return stall_of(stats, signal, extensions.stall_window)
    if resource == CPU:
        return as_int64(0 if stats.cpu is None else stats.cpu.usage_nano_cores or 0)
    if resource in (EPHEMERAL_STORAGE, INODES):
        of = _bytes if resource == EPHEMERAL_STORAGE else _inodes
        return _on_disk(pod, stats, _counted(signal, layout), of)
    processes = stats.process_stats
    return 0 if processes is None else processes.process_count or 0


def memory_in_use(memory: MemoryStats | None, of: MemoryInUse) -> int | None:
    """Bytes of a pod or a container; None: they were not measured."""
    if memory is None:
        return None
    return memory.working_set_bytes if of is MemoryInUse.WORKING_SET else memory.rss_bytes


def _counted(signal: Signal, layout: Layout) -> frozenset[str]:
    """What of a pod is on the file system of a signal."""
    if layout is Layout.DEDICATED:
        return frozenset({_LOGS, _VOLUMES}) if signal in _NODE else frozenset({_ROOT})
    if layout is Layout.SPLIT and signal in _IMAGES:
        return frozenset()
    return _ALL


def _on_disk(
    pod: Pod, stats: PodStats, counted: frozenset[str], of: Callable[[FsStats | None], int]
) -> int:
    used = 0
    for container in stats.containers:
        if _ROOT in counted:
            used += of(container.rootfs)
        if _LOGS in counted:
            used += of(container.logs)
    if _VOLUMES in counted and stats.volume:
        # Of two entries of a name the first counts.
        measured = {one.name: one for one in reversed(stats.volume)}
        local = (one.name for one in pod.spec.volumes if one.is_local)
        used += sum(of(measured.get(name)) for name in local)
    return used


def _bytes(fs: FsStats | None) -> int:
    return 0 if fs is None else as_int64(fs.used_bytes or 0)


def _inodes(fs: FsStats | None) -> int:
    return 0 if fs is None else as_int64(fs.inodes_used or 0)
