"""Which file systems of a node are one, where nobody tells: by what was measured of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.facts import FileSystemLayout

if TYPE_CHECKING:
    from bailiff.kinds.stats import FsStats, Summary


def derive_layout(summary: Summary) -> FileSystemLayout:
    """A layout by equal file systems: those of one size with as many inodes are taken for one.

    The kubelet asks the container runtime and compares devices, of which the summary says nothing.
    Two disks that are equal in both are taken for one, so whoever knows better tells the layout.
    """
    node, runtime = summary.node.fs, summary.node.runtime
    images = None if runtime is None else runtime.image_fs
    layers = None if runtime is None else runtime.container_fs
    return FileSystemLayout(
        dedicated_image_fs=_differ(node, images), split_container_image_fs=_differ(images, layers)
    )


def _differ(one: FsStats | None, other: FsStats | None) -> bool:
    if one is None or other is None:
        return False
    return (one.capacity_bytes, one.inodes) != (other.capacity_bytes, other.inodes)
