"""Pods that are over a limit of their own on the node's disk go at once, whatever is free there.

Source: localStorageEviction in pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.pressure.allocation import as_allocated
from bailiff.decisions.pressure.messages import (
    container_storage_message,
    empty_dir_message,
    pod_storage_message,
)
from bailiff.decisions.pressure.observed import as_int64
from bailiff.decisions.pressure.requests import limit_of
from bailiff.decisions.pressure.signals import EPHEMERAL_STORAGE
from bailiff.kinds.quantity import Quantity, parse_quantity

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import FsStats, PodStats


class StorageLimit(StrEnum):
    """Which limit a pod is over, as the metric kubelet_evictions names it."""

    EMPTY_DIR = "emptydirfs.limit"
    POD = "ephemeralpodfs.limit"
    CONTAINER = "ephemeralcontainerfs.limit"


class Excess(NamedTuple):
    """A pod is over a limit of its own.

    Attributes:
        limit: which.
        message: what is written with the eviction.
    """

    limit: StorageLimit
    message: str


def has_storage_limit(pod: Pod) -> bool:
    """Whether it can be over a limit at all: most pods have none, and cost no more than this."""
    spec = pod.spec
    return any(
        volume.empty_dir is not None and volume.empty_dir.size_limit is not None
        for volume in spec.volumes
    ) or any(
        EPHEMERAL_STORAGE in container.resources.limits
        for containers in (spec.containers, spec.init_containers)
        for container in containers
    )


def excess(
    pod: Pod, stats: PodStats, *, dedicated_image_fs: bool, limits_sidecars: bool = False
) -> Excess | None:
    """The first limit that a pod is over, by what it has been granted; None: it is within all.

    Args:
        pod: the pod.
        stats: what was measured of it, however long ago.
        dedicated_image_fs: writable layers are elsewhere, and do not count for a container's limit.
        limits_sidecars: sidecars' own limits count, as from Kubernetes 1.37 on.
    """
    pod = as_allocated(pod)
    return (
        _empty_dir_excess(pod, stats)
        or _pod_excess(pod, stats)
        or _container_excess(
            pod, stats, dedicated_image_fs=dedicated_image_fs, limits_sidecars=limits_sidecars
        )
    )


def _empty_dir_excess(pod: Pod, stats: PodStats) -> Excess | None:
    # A volume that was not measured crashes the kubelet; here it is passed over.
    used = {one.name: one.used_bytes for one in stats.volume if one.used_bytes is not None}
    for volume in pod.spec.volumes:
        if volume.empty_dir is None or volume.empty_dir.size_limit is None:
            continue
        limit = parse_quantity(volume.empty_dir.size_limit)
        if volume.name in used and limit.nano > 0 and limit.is_below(as_int64(used[volume.name])):
            return Excess(StorageLimit.EMPTY_DIR, empty_dir_message(volume.name, limit.text))
    return None


def _pod_excess(pod: Pod, stats: PodStats) -> Excess | None:
    limit = limit_of(pod, EPHEMERAL_STORAGE)
    if limit is None or not limit.is_below(_used(stats.ephemeral_storage)):
        return None
    return Excess(StorageLimit.POD, pod_storage_message(limit.text))


def _container_excess(
    pod: Pod, stats: PodStats, *, dedicated_image_fs: bool, limits_sidecars: bool
) -> Excess | None:
    limits = _container_limits(pod, sidecars=limits_sidecars)
    for measured in stats.containers if limits else ():
        used = _used(measured.logs)
        if not dedicated_image_fs:
            used += _used(measured.rootfs)
        limit = limits.get(measured.name)
        if limit is not None and limit.is_below(used):
            message = container_storage_message(measured.name, limit.text)
            return Excess(StorageLimit.CONTAINER, message)
    return None


def _container_limits(pod: Pod, *, sidecars: bool) -> dict[str, Quantity]:
    counted = list(pod.spec.containers)
    if sidecars:
        counted += [one for one in pod.spec.init_containers if one.is_sidecar]
    found = {
        one.name: parse_quantity(one.resources.limits[EPHEMERAL_STORAGE])
        for one in counted
        if EPHEMERAL_STORAGE in one.resources.limits
    }
    return {name: limit for name, limit in found.items() if limit.value != 0}


def _used(fs: FsStats | None) -> int:
    return 0 if fs is None or fs.used_bytes is None else as_int64(fs.used_bytes)
