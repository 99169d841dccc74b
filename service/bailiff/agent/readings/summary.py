"""What a kubelet would tell of its node, measured without one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.controllers import cgroups_of
from bailiff.agent.readings.cpu_usage import CpuUsage
from bailiff.agent.readings.disk_usage import never
from bailiff.agent.readings.file_systems import file_system, layout_of
from bailiff.agent.readings.files import is_there
from bailiff.agent.readings.logs import containers_by_logs, log_folder, names_by_uid
from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.node_reading import NodeReader
from bailiff.agent.readings.pod_cgroups import PodCgroups, pod_cgroups
from bailiff.agent.readings.pod_disk import Disks, PodDisks
from bailiff.agent.readings.pod_reading import Meter, on_disk, with_cgroup
from bailiff.agent.readings.pods import PodOnNode
from bailiff.agent.readings.volume_uses import VolumeUses
from bailiff.kinds.stats import PodReference, PodStats, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bailiff.agent.readings.places import Places
    from bailiff.agent.readings.pods import Layer
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds.stats import NodeStats


class MemoryCgroups(NamedTuple):
    """Where the kernel can be asked to tell of memory.

    Attributes:
        node: the folder of the node's cgroup; None: no cgroup has a memory controller.
        pods: that of all pods; None: there is none.
        unified: they are of cgroup v2.
        pressure: files of stalls of the node's memory, the first that takes a trigger from us is as
            good as all; none: this kernel tells of none.
    """

    node: Path | None
    pods: Path | None
    unified: bool
    pressure: tuple[Path, ...] = ()


class NodeReadings:
    """Measures one node.

    One call of `summary`, `whole_node` or `pods` at a time, and beside them one of
    `measure_volumes`; the others at any time, in any thread. Nothing raises because of what it
    reads: what is missing, malformed, too long or gone is None.
    """

    def __init__(self, places: Places, node_name: str, *, active_cache_counts: bool = True) -> None:
        """Look where cgroups are mounted; that is done once.

        Args:
            places: of the node.
            node_name: that the summary is to have.
            active_cache_counts: page cache that was read twice lately counts as in use, as for a
                kubelet; False: the kernel can drop it, so it is free.
        """
        self._places = places
        self._cgroups = cgroups_of(
            places.cgroups or find_mounts(places), active_cache_counts=active_cache_counts
        )
        self._node = NodeReader(places, self._cgroups, node_name)
        self._cpu = CpuUsage()
        self._volumes = VolumeUses(f"{places.seen(places.kubelet_dir)}/pods")

    def take_over(self, before: NodeReadings) -> None:
        """Go on with what those have measured of the same volumes, which takes minutes."""
        self._volumes = before._volumes

    def whole_node(self, now: datetime) -> NodeStats:
        """All that is measured of the node, and nothing of single pods."""
        return self._node.all(self._find(()).of_all, self._cpu, now)

    def pods(
        self, pods: Sequence[PodOnNode], layers: Mapping[str, Layer], now: datetime
    ) -> tuple[PodStats, ...]:
        """What is measured of pods: those that are told, and those that have a cgroup besides.

        A pod has an entry where there is a cgroup of it, or a container of it runs. Of one that is
        not told the disk is not measured.

        Args:
            pods: that whoever asks knows to be on the node.
            layers: writable layers by the IDs of containers; one that is missing is not measured.
            now: when.
        """
        found = self._find({one.uid for one in pods})
        there = [one for one in pods if one.uid in found.by_uid or one.containers]
        measured = [*self._told(there, layers, now), *self._others(found, pods)]
        # By the node's, too, since `whole_node` counts on it.
        self._cpu.keep({*found.by_uid.values(), self._places.node})
        return tuple(self._with_cgroup(pod, stats, found, now) for pod, stats in measured)

    def summary(
        self, pods: Sequence[PodOnNode], layers: Mapping[str, Layer], now: datetime
    ) -> Summary:
        """All of it, as a kubelet's summary decodes to; see `pods`.

        Volumes are told as `measure_volumes` has left them.
        """
        return Summary(node=self.whole_node(now), pods=self.pods(pods, layers, now))

    def measure_volumes(
        self,
        pods: Iterable[PodOnNode],
        seconds: float,
        now: datetime,
        stopped: Callable[[], bool] = never,
    ) -> None:
        """Go on measuring volumes, in a thread: each is measured again after 50 s.

        Args:
            pods: that are on the node.
            seconds: that this may take; a folder of very many files takes some more.
            now: for what is measured.
            stopped: asked now and then; once it says so nothing more is measured.
        """
        self._volumes.measure({one.uid for one in pods}, seconds, now, stopped)

    def layout(self) -> FileSystemLayout | None:
        """Which of the node's file systems are one; None: one of them is not there."""
        places = self._places
        return layout_of(places.seen(places.kubelet_dir), places.images, places.containers)

    def memory_available(self) -> int | None:
        """What the kernel estimates may be taken, in bytes (MemAvailable); None: not measured.

        It says so of the machine: of another cgroup that is taken for the node nothing is known.
        """
        return None if self._places.node else self._node.machine().available

    def is_there(self, uid: str) -> bool | None:
        """Whether a pod has a cgroup or local volumes; None: where pods have theirs is not known.

        Source: PodResourcesAreReclaimed in pkg/kubelet/kubelet_pods.go.
        """
        if self._cgroups is None:
            return None
        found = self._find({uid})
        there = self._uses_something(uid, found)
        return None if found.of_all is None and not there else there

    def there(self, uids: Collection[str]) -> frozenset[str]:
        """Those of these pods that have a cgroup or local volumes."""
        found = self._find(uids)
        return frozenset(uid for uid in uids if self._uses_something(uid, found))

    def _uses_something(self, uid: str, found: PodCgroups) -> bool:
        # Volumes are looked for of who has no cgroup any more, and of nobody else.
        return uid in found.by_uid or self._volumes.are_there(uid)

    def memory_cgroups(self) -> MemoryCgroups:
        """Where the kernel can be asked to tell of memory."""
        cgroups, node = self._cgroups, self._places.node
        if cgroups is None:
            return MemoryCgroups(None, None, unified=False, pressure=self._pressure())
        pods = self._find(()).of_all
        return MemoryCgroups(
            Path(cgroups.folder(node)),
            None if pods is None else Path(cgroups.folder(pods)),
            unified=cgroups.unified,
            pressure=self._pressure(cgroups.stall_file(node, "memory")),
        )

    def _pressure(self, of_cgroup: str | None = None) -> tuple[Path, ...]:
        """Of a cgroup that is taken for the node what the machine tells is another matter."""
        of_machine = f"{self._places.triggers}/memory"
        files = (of_cgroup,) if of_cgroup and self._places.node else (of_cgroup, of_machine)
        return tuple(Path(one) for one in files if one and is_there(one))

    def _find(self, known: Collection[str]) -> PodCgroups:
        if self._cgroups is None:
            return PodCgroups(None, {})
        return pod_cgroups(self._cgroups.folder, self._places.node, known)

    def _told(
        self, pods: Iterable[PodOnNode], layers: Mapping[str, Layer], now: datetime
    ) -> Iterator[tuple[PodOnNode, PodStats]]:
        places = self._places
        node = file_system(places.seen(places.kubelet_dir), now)
        of_layers = file_system(places.containers, now)
        disks = PodDisks(places, Disks(node, of_layers), layers, now)
        for known in pods:
            pod = known if known.containers else self._by_logs(known)
            volumes = self._volumes.of(pod.uid)
            yield pod, on_disk(pod, disks.of(pod, volumes), volumes)

    def _by_logs(self, pod: PodOnNode) -> PodOnNode:
        """With its containers as the folders of their logs tell: no runtime has told of any."""
        folder = log_folder(self._places.seen(self._places.pod_logs_dir), pod)
        names = () if folder is None else containers_by_logs(folder)
        return pod._replace(containers={name: name for name in names})

    def _others(
        self, found: PodCgroups, told: Iterable[PodOnNode]
    ) -> Iterator[tuple[PodOnNode, PodStats]]:
        uids = found.by_uid.keys() - {one.uid for one in told}
        # A static pod has another UID in the API, and is known by its name there.
        names = names_by_uid(self._places.seen(self._places.pod_logs_dir)) if uids else {}
        for uid in sorted(uids):
            namespace, name = names.get(uid, ("", ""))
            reference = PodReference(uid=uid, namespace=namespace, name=name)
            yield PodOnNode(uid, namespace, name), PodStats(pod_ref=reference)

    def _with_cgroup(
        self, pod: PodOnNode, stats: PodStats, found: PodCgroups, now: datetime
    ) -> PodStats:
        path = found.by_uid.get(pod.uid)
        if self._cgroups is None or path is None:
            return stats
        return with_cgroup(stats, pod, path, Meter(self._cgroups, self._cpu, now))
