"""What the node as a whole has and uses, as a summary tells it.

Source: Get and adjustForHugePages in pkg/kubelet/server/stats/summary.go, GetSpec of the root in
github.com/google/cadvisor, container/raw/handler.go.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bailiff.agent.readings.cgroup import UNKNOWN
from bailiff.agent.readings.file_systems import file_system, taken
from bailiff.agent.readings.measures import cpu_stats, io_stats, memory_stats, swap_stats
from bailiff.agent.readings.meminfo import MachineMemory, machine_memory
from bailiff.agent.readings.pressure_stall import stalls_in
from bailiff.agent.readings.processes import processes_of_node
from bailiff.kinds.stats import ContainerStats, NodeStats, RuntimeStats

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.agent.readings.cgroup import Cgroups, MemoryUse
    from bailiff.agent.readings.cpu_usage import CpuUsage
    from bailiff.agent.readings.places import Places
    from bailiff.kinds.stats import FsStats, MemoryStats, StallInformation, SwapStats

# The name under which a summary tells of all pods together (SystemContainerPods).
_PODS = "pods"


class NodeReader:
    """Reads the machine, and the cgroup that is taken for the node."""

    def __init__(self, places: Places, cgroups: Cgroups | None, name: str) -> None:
        """Prepare.

        Args:
            places: of the node.
            cgroups: of the node; None: it has none that can be read.
            name: of the node.
        """
        self._places = places
        self._cgroups = cgroups
        self._name = name
        self._path = places.node
        self._proc = places.seen(places.proc)
        self._meminfo = f"{self._proc}/meminfo"
        self._huge_pages = places.seen(places.huge_pages)

    def machine(self) -> MachineMemory:
        """What the machine has of memory."""
        return machine_memory(self._meminfo, self._huge_pages)

    def all(self, pods: str | None, cpu: CpuUsage, now: datetime) -> NodeStats:
        """Everything that is measured of a node.

        Args:
            pods: the cgroup of all pods; None: there is none.
            cpu: remembers what was read of the CPU before.
            now: when.
        """
        machine, places = self.machine(), self._places
        use = UNKNOWN if self._cgroups is None else self._cgroups.memory(self._path)
        return NodeStats(
            node_name=self._name,
            system_containers=self._of_pods(pods, now),
            cpu=cpu_stats(self._rate(cpu), self._stalls("cpu"), now),
            memory=self._memory(machine, use, now),
            io=io_stats(self._stalls("io"), now),
            fs=file_system(places.seen(places.kubelet_dir), now),
            runtime=RuntimeStats(
                image_fs=_of_runtime(places.images, now),
                container_fs=_of_runtime(places.containers, now),
            ),
            rlimit=processes_of_node(self._proc, now),
            swap=self._swap(machine, use, now),
        )

    def _memory(self, machine: MachineMemory, use: MemoryUse, now: datetime) -> MemoryStats | None:
        limit = None if self._cgroups is None else self._cgroups.limit(self._path)
        return memory_stats(use, _capacity(machine, limit), self._stalls("memory"), now)

    def _of_pods(self, path: str | None, now: datetime) -> tuple[ContainerStats, ...]:
        cgroups = self._cgroups
        if cgroups is None or path is None:
            return ()
        psi = stalls_in(cgroups.stall_file(path, "memory"))
        memory = memory_stats(cgroups.memory(path), cgroups.limit(path), psi, now)
        return () if memory is None else (ContainerStats(name=_PODS, memory=memory),)

    def _swap(self, machine: MachineMemory, use: MemoryUse, now: datetime) -> SwapStats | None:
        total, free = machine.swap_total, machine.swap_free
        if self._cgroups is None or not self._path:
            # The root of cgroups v2 does not tell (rootStatsFromMeminfo).
            used = None if total is None or free is None or free > total else total - free
            return swap_stats(used, free, now)
        left = self._cgroups.swap_left(self._path)
        return swap_stats(use.swap, None if left is None or free is None else min(left, free), now)

    def _stalls(self, resource: str) -> StallInformation | None:
        if self._cgroups is None or not self._path:
            return stalls_in(f"{self._proc}/pressure/{resource}")
        return stalls_in(self._cgroups.stall_file(self._path, resource))

    def _rate(self, cpu: CpuUsage) -> int | None:
        if self._cgroups is None:
            return None
        return cpu.rate(self._path, self._cgroups.cpu_time(self._path), time.monotonic_ns())


def _of_runtime(path: str, now: datetime) -> FsStats | None:
    """Only the container runtime knows how much images and writable layers take."""
    found = file_system(path, now)
    return None if found is None else taken(found, None, now)


def _capacity(machine: MachineMemory, limit: int | None) -> int | None:
    """What there is for pages of the usual size: those of huge pages no cgroup is charged for.

    A kubelet takes them off from 1.37 on, down to zero.
    """
    total, huge = machine.total, machine.huge_pages
    if total is None or huge is None or limit is None:
        return None
    return min(max(total - huge, 0), limit)
