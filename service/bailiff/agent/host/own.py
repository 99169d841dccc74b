"""Everything that a round goes by, measured on the node itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.agent.host import cgroups
from bailiff.agent.host.disks import Disks
from bailiff.agent.host.file_systems import file_system_of, layout_of
from bailiff.agent.host.pod_cgroups import container_cgroups, pod_cgroups, pods_cgroup
from bailiff.agent.host.proc import Machine, machine_of, processes_of
from bailiff.agent.reading import Reading, ReadingError
from bailiff.decisions.pressure.extensions import MemoryAvailable
from bailiff.decisions.pressure.observations import PODS_CONTAINER
from bailiff.kinds.stats import (
    ContainerStats,
    CpuStats,
    MemoryStats,
    NodeStats,
    PodReference,
    PodStats,
    ProcessStats,
    RlimitStats,
    RuntimeStats,
    StallStats,
    SwapStats,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bailiff.agent.host.disks import PodDisk
    from bailiff.agent.host.mounts import CgroupMounts
    from bailiff.agent.settings import HostPlaces
    from bailiff.clock import Clock
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds import Pod


class Place(NamedTuple):
    """Where the node's cgroups are.

    Attributes:
        mounts: of the controllers.
        below: the cgroup that is taken for the node, without a slash at its beginning.
    """

    mounts: CgroupMounts
    below: str

    @property
    def memory(self) -> Path | None:
        """The node's cgroup of memory."""
        top = self.mounts.memory
        return None if top is None else top / self.below

    @property
    def pids(self) -> Path | None:
        """The node's cgroup of processes."""
        top = self.mounts.pids
        return None if top is None else top / self.below


class HostSource:
    """See Source. Blocking reads of /proc and of cgroups are made in the event loop.

    They take some microseconds each; what may take longer, the counting of files, is made in a
    thread.
    """

    def __init__(
        self,
        node: str,
        places: HostPlaces,
        place: Place,
        clock: Clock,
        disks: Disks,
        needs_disks: Callable[[NodeStats], bool],
    ) -> None:
        """Prepare.

        Args:
            node: its name.
            places: where its files are.
            place: where its cgroups are.
            clock: of the instants of measurements.
            disks: what pods take of the disk.
            needs_disks: whether a round that measures this of the node needs that, too.
        """
        self._node = node
        self._places = places
        self._place = place
        self._clock = clock
        self._disks = disks
        self._needs_disks = needs_disks

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """See Source."""
        now = self._clock.now()
        node, machine = self.node(now)
        if self._needs_disks(node):
            await self._disks.count_missing(pods)
        return self._reading(node, machine, pods, now)

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source."""
        await self._disks.count(pods)
        now = self._clock.now()
        node, machine = self.node(now)
        return self._reading(node, machine, pods, now)

    def layout(self) -> FileSystemLayout | None:
        """See Source."""
        where = self._disks.where
        return layout_of(where.nodefs, where.images, where.layers)

    def has_gone(self, uid: str) -> bool | None:
        """See Source."""
        place = self._place.memory
        return None if place is None else uid not in pod_cgroups(place)

    def node(self, now: datetime) -> tuple[NodeStats, Machine]:
        """The node as a whole.

        Raises:
            ReadingError: not even its memory could be measured.
        """
        machine = machine_of(self._places.root)
        memory = self._memory(machine, now)
        if memory is None:
            raise ReadingError("memory", "the node's memory could not be measured")
        where, root = self._disks.where, self._places.root
        images = file_system_of(where.images, now)
        # Those of several folders on one file system are one look apart, and must not differ.
        layers = images if where.layers == where.images else file_system_of(where.layers, now)
        nodefs = images if where.nodefs == where.images else file_system_of(where.nodefs, now)
        counted = processes_of(root)
        return NodeStats(
            node_name=self._node,
            system_containers=self._system_containers(machine, now),
            cpu=CpuStats(time=now, psi=cgroups.stalls_of(Path(f"{root}/proc/pressure/cpu"))),
            memory=memory,
            io=StallStats(time=now, psi=cgroups.stalls_of(Path(f"{root}/proc/pressure/io"))),
            fs=nodefs,
            runtime=RuntimeStats(image_fs=images, container_fs=layers),
            rlimit=None
            if counted is None
            else RlimitStats(time=now, maxpid=counted[0], curproc=counted[1]),
            swap=_swap(machine, now),
        ), machine

    def _memory(self, machine: Machine, now: datetime) -> MemoryStats | None:
        place = self._place.memory
        if place is None or machine.total is None:
            return None
        found = cgroups.memory_of(place, self._place.mounts)
        if found.working_set is None:
            return None
        capacity = machine.total if found.limit is None else min(machine.total, found.limit)
        # As the summary of a kubelet of 1.37 and later has it.
        capacity = max(capacity - machine.huge_pages, 0) if not self._place.below else capacity
        stats = _stats(found, capacity, now)
        file = (
            place / "memory.pressure"
            if self._place.below
            else Path(f"{self._places.root}/proc/pressure/memory")
        )
        return replace(stats, psi=cgroups.stalls_of(file))

    def _system_containers(self, machine: Machine, now: datetime) -> tuple[ContainerStats, ...]:
        """That of all pods together; its limit is what pods may take of the node."""
        place = self._place.memory
        top = None if place is None else pods_cgroup(place)
        if top is None or machine.total is None:
            return ()
        found = cgroups.memory_of(top, self._place.mounts)
        if found.working_set is None:
            return ()
        capacity = machine.total if found.limit is None else min(machine.total, found.limit)
        memory = _stats(found, capacity, now)
        return (ContainerStats(name=PODS_CONTAINER, memory=memory),)

    def _reading(
        self, node: NodeStats, machine: Machine, pods: Sequence[Pod], now: datetime
    ) -> Reading:
        told = None
        if machine.available is not None and not self._place.below:
            told = MemoryAvailable(available_bytes=machine.available, time=now)
        known = tuple(pods)
        return Reading(
            node,
            partial(self.pods, known, now),
            mem_available=told,
            without_huge_pages=True,
        )

    def pods(self, pods: Sequence[Pod], now: datetime) -> tuple[PodStats, ...]:
        """What was measured of each that has a cgroup, or was counted on the disk."""
        memory, pids = self._place.memory, self._place.pids
        by_memory = {} if memory is None else pod_cgroups(memory)
        by_pids = {} if pids is None else pod_cgroups(pids)
        found = []
        for pod in pods:
            uid = pod.metadata.uid
            disk = self._disks.of(uid)
            if uid in by_memory or disk is not None:
                found.append(self._pod(pod, by_memory.get(uid), by_pids.get(uid), disk, now))
        return tuple(found)

    def _pod(
        self,
        pod: Pod,
        memory: Path | None,
        pids: Path | None,
        disk: PodDisk | None,
        now: datetime,
    ) -> PodStats:
        meta = pod.metadata
        names = self._disks.containers
        count = None if pids is None else cgroups.processes_of(pids)
        inside = {} if memory is None else container_cgroups(memory)
        return PodStats(
            pod_ref=PodReference(name=meta.name, namespace=meta.namespace, uid=meta.uid),
            containers=self._containers(inside, names, disk, now),
            memory=None if memory is None else self._usage(memory, now),
            volume=() if disk is None else disk.volumes,
            ephemeral_storage=None if disk is None else disk.ephemeral,
            process_stats=None if count is None else ProcessStats(process_count=count),
            swap=None if memory is None else self._swap_of(memory, now),
        )

    def _containers(
        self,
        inside: Mapping[str, Path],
        names: Mapping[str, str],
        disk: PodDisk | None,
        now: datetime,
    ) -> tuple[ContainerStats, ...]:
        """Those whose names the runtime has told, with what they take of memory and disk."""
        by_name = {names[one]: folder for one, folder in inside.items() if one in names}
        on_disk = {} if disk is None else disk.containers
        return tuple(
            ContainerStats(
                name=name,
                memory=self._usage(by_name[name], now) if name in by_name else None,
                rootfs=on_disk[name].rootfs if name in on_disk else None,
                logs=on_disk[name].logs if name in on_disk else None,
            )
            for name in dict.fromkeys((*by_name, *on_disk))
        )

    def _usage(self, cgroup: Path, now: datetime) -> MemoryStats:
        found = cgroups.memory_of(cgroup, self._place.mounts)
        psi = cgroups.stalls_of(cgroup / "memory.pressure") if self._place.mounts.unified else None
        return MemoryStats(
            time=now,
            usage_bytes=found.usage,
            working_set_bytes=found.working_set,
            rss_bytes=found.rss,
            psi=psi,
        )

    def _swap_of(self, cgroup: Path, now: datetime) -> SwapStats | None:
        used = cgroups.swap_of(cgroup, self._place.mounts)
        return None if used is None else SwapStats(time=now, swap_usage_bytes=used)


def _stats(found: cgroups.Memory, capacity: int, now: datetime) -> MemoryStats:
    used = found.working_set or 0
    return MemoryStats(
        time=now,
        available_bytes=max(capacity - used, 0),
        usage_bytes=found.usage,
        working_set_bytes=used,
        rss_bytes=found.rss,
    )


def _swap(machine: Machine, now: datetime) -> SwapStats | None:
    total, free = machine.swap_total, machine.swap_free
    if not total or free is None:
        return None
    return SwapStats(time=now, swap_available_bytes=free, swap_usage_bytes=max(total - free, 0))
