"""Eviction signals: what is measured, which resource that is, which condition it raises.

Source: pkg/kubelet/eviction/api/types.go, pkg/kubelet/eviction/helpers.go. Those of swap and of
stalls are ours, see docs/pressure/extensions.md.
"""

from __future__ import annotations

from enum import StrEnum


class Signal(StrEnum):
    """What a threshold watches, in the kubelet's words; the last seven are no kubelet's.

    The order is ours: where several thresholds are met at once, memory comes first, as upstream,
    and the others in the order of this list, where upstream's order is random.
    """

    MEMORY_AVAILABLE = "memory.available"
    ALLOCATABLE_MEMORY_AVAILABLE = "allocatableMemory.available"
    NODEFS_AVAILABLE = "nodefs.available"
    NODEFS_INODES_FREE = "nodefs.inodesFree"
    IMAGEFS_AVAILABLE = "imagefs.available"
    IMAGEFS_INODES_FREE = "imagefs.inodesFree"
    CONTAINERFS_AVAILABLE = "containerfs.available"
    CONTAINERFS_INODES_FREE = "containerfs.inodesFree"
    PID_AVAILABLE = "pid.available"
    SWAP_AVAILABLE = "swap.available"
    MEMORY_SOME = "memory.psi.some"
    MEMORY_FULL = "memory.psi.full"
    IO_SOME = "io.psi.some"
    IO_FULL = "io.psi.full"
    CPU_SOME = "cpu.psi.some"
    CPU_FULL = "cpu.psi.full"

    @property
    def resource(self) -> str:
        """What is starved where it is low, as messages and annotations name it."""
        return _RESOURCES[self]

    @property
    def condition(self) -> str:
        """The node condition that it raises; empty: Kubernetes has none for that."""
        return _CONDITIONS.get(self.resource, "")

    @property
    def is_freed_by_stopping(self) -> bool:
        """A container that is stopped gives it back: it keeps its layer, logs and volumes."""
        return self.condition != DISK_PRESSURE

    @property
    def is_stall(self) -> bool:
        """For how much of the time tasks wait: no amount that a pod has, or gives back."""
        return self in STALLS


MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
INODES = "inodes"
PIDS = "pids"
SWAP = "swap"
IO = "io"
CPU = "cpu"

MEMORY_PRESSURE = "MemoryPressure"
DISK_PRESSURE = "DiskPressure"
PID_PRESSURE = "PIDPressure"
# In the order in which they are told.
CONDITIONS = (MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE)

# Those of memory come first in a round (byEvictionPriority).
MEMORY_SIGNALS = frozenset({Signal.MEMORY_AVAILABLE, Signal.ALLOCATABLE_MEMORY_AVAILABLE})
# By the name of the file system that they are of.
FILE_SYSTEMS = {
    "nodefs": (Signal.NODEFS_AVAILABLE, Signal.NODEFS_INODES_FREE),
    "imagefs": (Signal.IMAGEFS_AVAILABLE, Signal.IMAGEFS_INODES_FREE),
    "containerfs": (Signal.CONTAINERFS_AVAILABLE, Signal.CONTAINERFS_INODES_FREE),
}
STALLS = frozenset(signal for signal in Signal if ".psi." in signal)
# What a kubelet knows nothing of.
EXTRA_SIGNALS = STALLS | {Signal.SWAP_AVAILABLE}
KUBELET_SIGNALS = frozenset(Signal) - EXTRA_SIGNALS
ORDER = {signal: place for place, signal in enumerate(Signal)}

_RESOURCES = {
    Signal.MEMORY_AVAILABLE: MEMORY,
    Signal.ALLOCATABLE_MEMORY_AVAILABLE: MEMORY,
    Signal.NODEFS_AVAILABLE: EPHEMERAL_STORAGE,
    Signal.NODEFS_INODES_FREE: INODES,
    Signal.IMAGEFS_AVAILABLE: EPHEMERAL_STORAGE,
    Signal.IMAGEFS_INODES_FREE: INODES,
    Signal.CONTAINERFS_AVAILABLE: EPHEMERAL_STORAGE,
    Signal.CONTAINERFS_INODES_FREE: INODES,
    Signal.PID_AVAILABLE: PIDS,
    Signal.SWAP_AVAILABLE: SWAP,
    Signal.MEMORY_SOME: MEMORY,
    Signal.MEMORY_FULL: MEMORY,
    Signal.IO_SOME: IO,
    Signal.IO_FULL: IO,
    Signal.CPU_SOME: CPU,
    Signal.CPU_FULL: CPU,
}
_CONDITIONS = {
    MEMORY: MEMORY_PRESSURE,
    EPHEMERAL_STORAGE: DISK_PRESSURE,
    INODES: DISK_PRESSURE,
    PIDS: PID_PRESSURE,
    SWAP: MEMORY_PRESSURE,
}
