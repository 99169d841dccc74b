"""File systems: how much of them is left, and which of them are one.

Source: pkg/volume/util/fs/fs_linux.go (Info); HasDedicatedImageFs in pkg/kubelet/stats/provider.go
compares devices, and so do we.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.kinds.stats import FsStats

if TYPE_CHECKING:
    from datetime import datetime


def file_system_of(folder: str, now: datetime) -> FsStats | None:
    """The file system that a folder is on; None: there is no such folder, or it does not say."""
    try:
        found = os.statvfs(folder)
    except (OSError, ValueError):
        return None
    size = found.f_frsize
    return FsStats(
        time=now,
        available_bytes=found.f_bavail * size,
        capacity_bytes=found.f_blocks * size,
        used_bytes=(found.f_blocks - found.f_bfree) * size,
        # Some, as btrfs, have no number of inodes: then there is nothing to run out of.
        inodes_free=found.f_ffree if found.f_files else None,
        inodes=found.f_files or None,
        inodes_used=found.f_files - found.f_ffree if found.f_files else None,
    )


def layout_of(nodefs: str, images: str, layers: str) -> FileSystemLayout | None:
    """Which of these folders are on one device; None: one of them is not there."""
    devices = [device_of(folder) for folder in (nodefs, images, layers)]
    node, image, layer = devices
    if node is None or image is None or layer is None:
        return None
    return FileSystemLayout(
        dedicated_image_fs=image != node, split_container_image_fs=layer != image
    )


def device_of(folder: str) -> int | None:
    """The device that a folder is on; None: there is no such folder."""
    try:
        return os.stat(folder).st_dev  # noqa: PTH116 - as statvfs, which pathlib has not
    except (OSError, ValueError):
        return None
