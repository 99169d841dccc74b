"""What is read of cgroups v2 (Documentation/admin-guide/cgroup-v2.rst).

Source of the rules: setMemoryStats in github.com/google/cadvisor,
container/libcontainer/handler.go, and fs2/memory.go in github.com/opencontainers/cgroups.
"""

from __future__ import annotations

from bailiff.agent.readings.cgroup import (
    NO_LIMIT,
    UNKNOWN,
    MemoryUse,
    as_limit,
    left,
    working_set,
)
from bailiff.agent.readings.files import field, number, number_in, read
from bailiff.kinds.meta import INT64_MAX

_NANOSECONDS = 1000


class CgroupsV2:
    """One tree for all controllers."""

    def __init__(self, mount: str, *, active_cache_counts: bool = True) -> None:
        """Read what is mounted there; `active_cache_counts` as of CgroupsV1."""
        names = (b"inactive_file ", b"active_file ")
        self._free = names[:1] if active_cache_counts else names
        self._mount = mount

    @property
    def unified(self) -> bool:
        """See Cgroups."""
        return True

    def folder(self, path: str) -> str:
        """See Cgroups."""
        return self._mount + path

    def memory(self, path: str) -> MemoryUse:
        """See Cgroups."""
        folder = self._mount + path
        usage, stat = number_in(f"{folder}/memory.current"), read(f"{folder}/memory.stat")
        if stat is None:
            return UNKNOWN if usage is None else MemoryUse(usage)
        anonymous = field(stat, b"anon ")
        if usage is None and not path:
            usage = _of_root(anonymous, field(stat, b"file "))
        return MemoryUse(
            usage=usage,
            working_set=working_set(usage, *(field(stat, one) for one in self._free)),
            rss=anonymous,
            swap=number_in(f"{folder}/memory.swap.current"),
        )

    def limit(self, path: str) -> int | None:
        """See Cgroups. The root has none."""
        return self._limit(f"{self._mount}{path}/memory.max", is_root=not path)

    def swap_left(self, path: str) -> int | None:
        """See Cgroups."""
        files = f"{self._mount}{path}/memory.swap"
        return left(self._limit(f"{files}.max", is_root=not path), number_in(f"{files}.current"))

    def cpu_time(self, path: str) -> int | None:
        """See Cgroups."""
        stat = read(f"{self._mount}{path}/cpu.stat")
        used = None if stat is None else field(stat, b"usage_usec ")
        # Go's uint64 would wrap around.
        return None if used is None or used > INT64_MAX // _NANOSECONDS else used * _NANOSECONDS

    def tasks(self, path: str) -> int | None:
        """See Cgroups."""
        return number_in(f"{self._mount}{path}/pids.current")

    def stall_file(self, path: str, resource: str) -> str | None:
        """See Cgroups."""
        return f"{self._mount}{path}/{resource}.pressure"

    @staticmethod
    def _limit(file: str, *, is_root: bool) -> int | None:
        text = read(file)
        if text is None:
            # Of a cgroup that is gone nothing is known.
            return NO_LIMIT if is_root else None
        return NO_LIMIT if text.strip() == b"max" else as_limit(number(text))


def _of_root(anonymous: int | None, file: int | None) -> int | None:
    """The root does not tell what it uses: what cgroup v1 counts there (rootStatsFromMeminfo)."""
    return None if anonymous is None or file is None else anonymous + file
