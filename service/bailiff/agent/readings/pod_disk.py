"""What a pod takes on the node's disk: writable layers, logs, local volumes.

Source: makePodStorageStats and calcEphemeralStorage in pkg/kubelet/stats/helper.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.file_systems import Usage, taken
from bailiff.agent.readings.files import is_plain, is_there
from bailiff.agent.readings.logs import file, files_in, log_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from bailiff.agent.readings.places import Places
    from bailiff.agent.readings.pods import Layer, PodOnNode
    from bailiff.agent.readings.volume_uses import PodVolumes
    from bailiff.kinds.stats import FsStats


class Disks(NamedTuple):
    """File systems of the node; None: not measured.

    Attributes:
        node: of the kubelet's folder.
        layers: of writable layers.
    """

    node: FsStats | None
    layers: FsStats | None


class ContainerDisk(NamedTuple):
    """What a container takes; None: not measured.

    Attributes:
        rootfs: its writable layer.
        logs: its logs.
    """

    rootfs: FsStats | None
    logs: FsStats | None


class PodDisk(NamedTuple):
    """What a pod takes.

    Attributes:
        containers: by the IDs of those that run.
        ephemeral_storage: all of it; its numbers are None where one part was not measured.
    """

    containers: Mapping[str, ContainerDisk]
    ephemeral_storage: FsStats


class PodDisks:
    """Reads the logs of pods, and puts together what they take."""

    def __init__(
        self, places: Places, disks: Disks, layers: Mapping[str, Layer], now: datetime
    ) -> None:
        """Prepare for one reading.

        Args:
            places: of the node.
            disks: its file systems.
            layers: writable layers by the IDs of containers; one that is missing is not measured.
            now: when.
        """
        self._logs = places.seen(places.pod_logs_dir)
        self._pods = f"{places.seen(places.kubelet_dir)}/pods"
        # Where the folder of all is not seen, nobody takes nothing.
        self._sees_logs, self._sees_pods = is_there(self._logs), is_there(self._pods)
        self._disks = disks
        self._layers = layers
        self._now = now

    def of(self, pod: PodOnNode, volumes: PodVolumes | None) -> PodDisk:
        """What one takes.

        Args:
            pod: which.
            volumes: its volumes, as they were measured; None: which it has is not known.
        """
        folder = log_folder(self._logs, pod) if self._sees_logs else None
        logs = {one: self._files(folder, name) for one, name in pod.containers.items()}
        parts = [
            # A pod of which no container is known has writable layers all the same.
            *([self._layers.get(one) for one in pod.containers] or [None]),
            *logs.values(),
            None if folder is None else files_in(folder),
            self._hosts(pod.uid),
            *_of_volumes(volumes),
        ]
        return PodDisk(
            {one: self._container(one, logs[one]) for one in pod.containers},
            taken(self._disks.node, _sum(parts), self._now),
        )

    def _files(self, folder: str | None, container: str) -> Usage | None:
        named = folder is not None and is_plain(container)
        return files_in(f"{folder}/{container}") if named else None

    def _hosts(self, uid: str) -> Usage | None:
        """The kubelet writes /etc/hosts for a pod (getEtcHostsPath in pkg/kubelet)."""
        return file(f"{self._pods}/{uid}/etc-hosts") if self._sees_pods and is_plain(uid) else None

    def _container(self, container: str, logs: Usage | None) -> ContainerDisk:
        layer, disks, now = self._layers.get(container), self._disks, self._now
        return ContainerDisk(
            None if layer is None else taken(disks.layers, layer, now),
            None if logs is None else taken(disks.node, logs, now),
        )


def _of_volumes(volumes: PodVolumes | None) -> Iterator[Usage | None]:
    if volumes is None or not volumes.is_complete:
        yield None
        return
    for use in volumes.uses.values():
        used, inodes = use.stats.used_bytes, use.stats.inodes_used
        if use.on_disk:
            yield None if used is None or inodes is None else Usage(used, inodes)


def _sum(parts: Iterable[Usage | None]) -> Usage | None:
    total = Usage(0, 0)
    for one in parts:
        if one is None:
            return None
        total = Usage(total.bytes + one.bytes, total.inodes + one.inodes)
    return total
