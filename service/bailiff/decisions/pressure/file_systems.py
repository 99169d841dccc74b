"""Which file systems of a node are one, where nobody tells: by their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.facts import FileSystemLayout

if TYPE_CHECKING:
    from bailiff.kinds.stats import FsStats, NodeStats, Summary


def derive_layout(summary: Summary) -> FileSystemLayout:
    """A layout by the sizes of file systems: those of one size are taken for one.

    The kubelet asks the container runtime and compares devices, of which the summary says nothing.
    A size stays, whatever is written; all else that is measured changes between the two looks that
    a kubelet takes at one file system: what is free, and on XFS, which makes inodes of free blocks,
    even how many inodes there are. By those the layout would change when a disk gets full, which is
    when it counts.

    Two disks of one size are taken for one, so whoever has such nodes tells the layout. A size that
    is not told, or is 0 as while a runtime starts, makes no difference.
    """
    node, runtime = summary.node.fs, summary.node.runtime
    images = None if runtime is None else runtime.image_fs
    layers = None if runtime is None else runtime.container_fs
    return FileSystemLayout(
        dedicated_image_fs=_differ(node, images), split_container_image_fs=_differ(images, layers)
    )


def _differ(one: FsStats | None, other: FsStats | None) -> bool:
    sizes = {each.capacity_bytes for each in (one, other) if each is not None}
    return len(sizes - {None, 0}) > 1


def tells_layout(node: NodeStats) -> bool:
    """Whether the sizes are there by which the layout is derived."""
    images = None if node.runtime is None else node.runtime.image_fs
    return all(one is not None and one.capacity_bytes for one in (node.fs, images))
