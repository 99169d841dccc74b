"""Which file systems of a node are one, and what can be freed on each before a pod goes.

Source: HasDedicatedImageFs and HasDedicatedContainerFs in pkg/kubelet/stats/provider.go,
buildSignalToNodeReclaimFuncs in pkg/kubelet/eviction/helpers.go (KEP-4191).
"""

from __future__ import annotations

from enum import Enum, StrEnum

from bailiff.decisions.pressure.signals import KUBELET_SIGNALS, Signal

_DISK = KUBELET_SIGNALS - {
    Signal.MEMORY_AVAILABLE,
    Signal.ALLOCATABLE_MEMORY_AVAILABLE,
    Signal.PID_AVAILABLE,
}
_IMAGES = frozenset({Signal.IMAGEFS_AVAILABLE, Signal.IMAGEFS_INODES_FREE})
_NODE = frozenset({Signal.NODEFS_AVAILABLE, Signal.NODEFS_INODES_FREE})


class Layout(Enum):
    """Where a node keeps images, writable layers, and all else.

    SINGLE: all on one file system. DEDICATED: images and writable layers on another than the
    kubelet's directory. SPLIT: only images are on another. STRAY: writable layers alone are
    elsewhere, which no kubelet supports; it goes by such a node as if all were one, but for the
    thresholds of containerfs, which stay as they were set.
    """

    SINGLE = "single"
    DEDICATED = "dedicated"
    SPLIT = "split"
    STRAY = "stray"

    @staticmethod
    def of(dedicated_image_fs: bool, split_container_image_fs: bool) -> Layout:
        """By the two facts that a kubelet finds out."""
        if dedicated_image_fs:
            return Layout.SPLIT if split_container_image_fs else Layout.DEDICATED
        return Layout.STRAY if split_container_image_fs else Layout.SINGLE

    @property
    def has_dedicated_image_fs(self) -> bool:
        """Images are on another file system than the kubelet's directory."""
        return self in (Layout.DEDICATED, Layout.SPLIT)


class ReclaimStep(StrEnum):
    """What a node can free without any pod."""

    UNUSED_CONTAINERS = "DeleteUnusedContainers"
    UNUSED_IMAGES = "DeleteUnusedImages"


_BOTH = (ReclaimStep.UNUSED_CONTAINERS, ReclaimStep.UNUSED_IMAGES)


def reclaim_steps(signal: Signal, layout: Layout) -> tuple[ReclaimStep, ...]:
    """What to free where a signal is low, in this order; none for memory and processes."""
    if signal not in _DISK:
        return ()
    if layout is Layout.SPLIT:
        return _BOTH[1:] if signal in _IMAGES else _BOTH[:1]
    return () if layout is Layout.DEDICATED and signal in _NODE else _BOTH
