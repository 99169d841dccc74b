"""How full file systems are, and which of a node's are one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.agent.readings.files import device
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.kinds.meta import INT64_MAX
from bailiff.kinds.stats import FsStats

if TYPE_CHECKING:
    from datetime import datetime


class Usage(NamedTuple):
    """What a part of a file system takes.

    Attributes:
        bytes: on the disk, which is less than its length where a file has holes.
        inodes: files, folders and all else that has a name.
    """

    bytes: int
    inodes: int


NOTHING = Usage(0, 0)


def file_system(path: str, now: datetime) -> FsStats | None:
    """That of a path; None: it is not there.

    Source: getVfsStats in github.com/google/cadvisor, fs/vfs/stats.go, and RootFsStats in
    pkg/kubelet/stats/provider.go.

    Args:
        path: as this process sees it.
        now: when.
    """
    try:
        told = os.statvfs(path)
    except (OSError, ValueError):
        return None
    size, inodes = told.f_frsize, _count(told.f_files)
    # One that has no fixed number of inodes, as btrfs, tells 0, which would look like none left.
    free = _count(told.f_ffree) if inodes else None
    return FsStats(
        time=now,
        available_bytes=_count(told.f_bavail * size),
        capacity_bytes=_count(told.f_blocks * size),
        used_bytes=_count((told.f_blocks - told.f_bfree) * size),
        inodes=inodes or None,
        inodes_free=free,
        inodes_used=None if inodes is None or free is None else _count(inodes - free),
    )


def _count(told: int) -> int | None:
    return told if 0 <= told <= INT64_MAX else None


def taken(file_system: FsStats | None, usage: Usage | None, now: datetime) -> FsStats:
    """What a part takes, beside the size of its file system, as the kubelet tells it.

    Args:
        file_system: of which it is a part; None: not measured.
        usage: of the part; None: not measured.
        now: when it was.
    """
    return replace(
        FsStats() if file_system is None else file_system,
        time=now,
        used_bytes=None if usage is None else _count(usage.bytes),
        inodes_used=None if usage is None else _count(usage.inodes),
    )


def layout_of(kubelet: str, images: str, containers: str) -> FileSystemLayout | None:
    """Which of three folders are on one file system, by their devices.

    Source: HasDedicatedImageFs and HasDedicatedContainerFs in pkg/kubelet/stats/provider.go. Those
    compare devices by name; subvolumes of one btrfs have one name, and a number each.

    Args:
        kubelet: the kubelet's own.
        images: with images.
        containers: with writable layers.

    Returns:
        None where one of them is not there.
    """
    node, of_images, of_layers = device(kubelet), device(images), device(containers)
    if node is None or of_images is None or of_layers is None:
        return None
    return FileSystemLayout(
        dedicated_image_fs=of_images != node, split_container_image_fs=of_layers != of_images
    )
