"""What pods take of the node's disks: counted in a thread, and kept for a minute.

Source: pkg/kubelet/stats/cri_stats_provider.go and pkg/kubelet/server/stats/volume_stat_calculator.go
(a minute, too).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.host.disk_usage import Counter, Taken, TooLargeError
from bailiff.kinds.stats import FsStats, VolumeStats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.kinds import Pod

# Seconds and files for one pod: a pod with more is not measured, which a round can tell.
_SECONDS = 5.0
_FILES = 500_000
# Seconds for which a count serves.
_KEPT = 60.0


class Where(NamedTuple):
    """Folders on the node's disks.

    Attributes:
        nodefs: the kubelet's, with the volumes of pods.
        logs: of pods.
        images: on the file system of images.
        layers: on the file system of writable layers.
    """

    nodefs: str
    logs: str
    images: str
    layers: str


class ContainerDisk(NamedTuple):
    """What one container takes; None: it was not measured."""

    rootfs: FsStats | None
    logs: FsStats | None


class PodDisk(NamedTuple):
    """What one pod takes.

    Attributes:
        ephemeral: all of it together.
        volumes: its local volumes.
        containers: by their names.
    """

    ephemeral: FsStats | None
    volumes: tuple[VolumeStats, ...]
    containers: Mapping[str, ContainerDisk]


class Layer(NamedTuple):
    """The writable layer of a container, as its runtime tells.

    Attributes:
        pod_uid: whose container.
        container: its name.
        taken: of the disk; None: not known.
    """

    pod_uid: str
    container: str
    taken: Taken | None


class Disks:
    """What was counted last.

    Attributes:
        where: the folders.
        containers: names of containers by their ids, as the runtime has told.
    """

    def __init__(self, where: Where, clock: Clock) -> None:
        """Nothing has been counted yet."""
        self.where = where
        self.containers: Mapping[str, str] = {}
        self._clock = clock
        self._layers: Mapping[str, tuple[Layer, ...]] = {}
        self._counted: dict[str, tuple[float, PodDisk]] = {}

    def of(self, uid: str) -> PodDisk | None:
        """What was counted of a pod; None: it was not."""
        found = self._counted.get(uid)
        return None if found is None else found[1]

    def note(self, containers: Mapping[str, str], layers: Iterable[Layer]) -> None:
        """What the runtime says: names of containers by id, and their writable layers."""
        self.containers = containers
        by_pod: dict[str, tuple[Layer, ...]] = {}
        for one in layers:
            by_pod[one.pod_uid] = (*by_pod.get(one.pod_uid, ()), one)
        self._layers = by_pod

    async def count_missing(self, pods: Sequence[Pod]) -> None:
        """Count those that were not counted within a minute."""
        elapsed = self._clock.elapsed()
        await self.count(
            [
                pod
                for pod in pods
                if (found := self._counted.get(pod.metadata.uid)) is None
                or elapsed - found[0] > _KEPT
            ]
        )

    async def count(self, pods: Sequence[Pod]) -> None:
        """Count all of these, one after the other."""
        there = {pod.metadata.uid for pod in pods if not pod.is_finished}
        for pod in pods:
            uid = pod.metadata.uid
            if uid in there:
                found = await asyncio.to_thread(self._count, pod, self._clock.now())
                self._counted[uid] = (self._clock.elapsed(), found)
        for uid in [one for one, (at, _) in self._counted.items() if self._is_old(at)]:
            del self._counted[uid]

    def _is_old(self, at: float) -> bool:
        return self._clock.elapsed() - at > 10 * _KEPT

    def _count(self, pod: Pod, now: datetime) -> PodDisk:
        meta, counter = pod.metadata, Counter(_SECONDS, _FILES)
        inside = f"{self.where.nodefs}/pods/{meta.uid}/volumes"
        logs = f"{self.where.logs}/{meta.namespace}_{meta.name}_{meta.uid}"
        layers = self._layers.get(meta.uid, ())
        try:
            volumes = tuple(_volumes(pod, inside, counter, now))
            containers = {
                one.container: ContainerDisk(
                    _fs(one.taken, now), _fs(counter.count(f"{logs}/{one.container}"), now)
                )
                for one in layers
            }
            logged = counter.count(logs)
        except TooLargeError:
            return PodDisk(None, (), {})
        parts = [logged, *(one.taken for one in layers)]
        local = [Taken(one.used_bytes or 0, one.inodes_used or 0) for one in volumes]
        used = [one for one in (*parts, *local) if one is not None]
        together = Taken(sum(one.used for one in used), sum(one.inodes for one in used))
        return PodDisk(_fs(together, now), volumes, containers)


# By the field of a volume in a pod's spec: the plugin whose folder it has (pkg/volume).
_PLUGINS = (
    ("empty_dir", "kubernetes.io~empty-dir"),
    ("config_map", "kubernetes.io~configmap"),
    ("git_repo", "kubernetes.io~git-repo"),
)


def _volumes(pod: Pod, folder: str, counter: Counter, now: datetime) -> Iterable[VolumeStats]:
    for volume in pod.spec.volumes or ():
        for field, plugin in _PLUGINS:
            if getattr(volume, field, None) is None:
                continue
            found = counter.count(f"{folder}/{plugin}/{volume.name}")
            if found is not None:
                yield VolumeStats(
                    name=volume.name, time=now, used_bytes=found.used, inodes_used=found.inodes
                )


def _fs(taken: Taken | None, now: datetime) -> FsStats | None:
    if taken is None:
        return None
    return FsStats(time=now, used_bytes=taken.used, inodes_used=taken.inodes)
