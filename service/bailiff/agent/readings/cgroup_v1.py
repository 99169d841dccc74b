"""What is read of cgroups v1 (Documentation/admin-guide/cgroup-v1/memory.rst).

Source of the rules: setMemoryStats in github.com/google/cadvisor,
container/libcontainer/handler.go, and fs/memory.go in github.com/opencontainers/cgroups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.readings.cgroup import MemoryUse, as_limit, left, working_set
from bailiff.agent.readings.files import field, number_in, read

if TYPE_CHECKING:
    from bailiff.agent.readings.places import CgroupMounts


class CgroupsV1:
    """Each controller has a tree of its own, in which a pod has the same path."""

    def __init__(
        self, memory: str, mounts: CgroupMounts, *, active_cache_counts: bool = True
    ) -> None:
        """Read these.

        Args:
            memory: where the memory controller is mounted.
            mounts: where the others are; cgroup v2 beside them tells of stalls.
            active_cache_counts: page cache that was read twice lately counts as in use.
        """
        names = (b"total_inactive_file ", b"total_active_file ")
        self._free = names[:1] if active_cache_counts else names
        self._memory = memory
        self._mounts = mounts

    @property
    def unified(self) -> bool:
        """See Cgroups."""
        return False

    def folder(self, path: str) -> str:
        """See Cgroups."""
        return self._memory + path

    def memory(self, path: str) -> MemoryUse:
        """See Cgroups."""
        folder = self._memory + path
        usage, stat = number_in(f"{folder}/memory.usage_in_bytes"), read(f"{folder}/memory.stat")
        if stat is None:
            return MemoryUse(usage)
        return MemoryUse(
            usage=usage,
            working_set=working_set(usage, *(field(stat, one) for one in self._free)),
            rss=field(stat, b"total_rss "),
            swap=field(stat, b"total_swap "),
        )

    def limit(self, path: str) -> int | None:
        """See Cgroups."""
        return as_limit(number_in(f"{self._memory}{path}/memory.limit_in_bytes"))

    def swap_left(self, path: str) -> int | None:
        """See Cgroups. The limit is one of memory and swap together."""
        files = f"{self._memory}{path}/memory.memsw"
        limit = as_limit(number_in(f"{files}.limit_in_bytes"))
        return left(limit, number_in(f"{files}.usage_in_bytes"))

    def cpu_time(self, path: str) -> int | None:
        """See Cgroups."""
        return self._of(self._mounts.cpuacct, path, "cpuacct.usage")

    def tasks(self, path: str) -> int | None:
        """See Cgroups."""
        return self._of(self._mounts.pids, path, "pids.current")

    def stall_file(self, path: str, resource: str) -> str | None:
        """See Cgroups. systemd keeps cgroups of the same paths in cgroup v2 beside these."""
        unified = self._mounts.unified
        return None if unified is None else f"{unified}{path}/{resource}.pressure"

    @staticmethod
    def _of(mount: str | None, path: str, file: str) -> int | None:
        return None if mount is None else number_in(f"{mount}{path}/{file}")
