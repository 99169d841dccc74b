"""Eviction signals: what is measured, which resource that is, which condition it raises.

Source: pkg/kubelet/eviction/api/types.go, pkg/kubelet/eviction/helpers.go.
"""

from __future__ import annotations

from enum import StrEnum


class Signal(StrEnum):
    """What a threshold watches, in the kubelet's words.

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

    @property
    def resource(self) -> str:
        """What is starved where it is low, as messages and annotations name it."""
        return _RESOURCES[self]

    @property
    def condition(self) -> str:
        """The node condition that it raises."""
        return _CONDITIONS[self.resource]


MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
INODES = "inodes"
PIDS = "pids"

MEMORY_PRESSURE = "MemoryPressure"
DISK_PRESSURE = "DiskPressure"
PID_PRESSURE = "PIDPressure"
# In the order in which they are told.
CONDITIONS = (MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE)

# Those of memory come first in a round (byEvictionPriority).
MEMORY_SIGNALS = frozenset({Signal.MEMORY_AVAILABLE, Signal.ALLOCATABLE_MEMORY_AVAILABLE})
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
}
_CONDITIONS = {
    MEMORY: MEMORY_PRESSURE,
    EPHEMERAL_STORAGE: DISK_PRESSURE,
    INODES: DISK_PRESSURE,
    PIDS: PID_PRESSURE,
}
