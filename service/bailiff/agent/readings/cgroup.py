"""What is read of a cgroup, whatever version the host has."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from bailiff.kinds.meta import INT64_MAX

# Stands for "as much as there is".
NO_LIMIT = INT64_MAX
# What is above is no limit (isMemoryUnlimited in pkg/kubelet/stats/helper.go): cgroup v1 tells the
# largest number of whole pages, which depends on the size of a page.
_LARGEST_LIMIT = 2**62


class MemoryUse(NamedTuple):
    """Memory of a cgroup and all below it, in bytes; None: not measured.

    Attributes:
        usage: in use, page cache included.
        working_set: of that what the kernel may not drop at once.
        rss: anonymous memory.
        swap: in use.
    """

    usage: int | None = None
    working_set: int | None = None
    rss: int | None = None
    swap: int | None = None


UNKNOWN = MemoryUse()


class Cgroups(Protocol):
    """The tree of cgroups. Paths are those behind the mount point: empty, or with a slash first."""

    @property
    def unified(self) -> bool:
        """They are of cgroup v2."""
        ...

    def folder(self, path: str) -> str:
        """Where the memory controller has this one."""
        ...

    def memory(self, path: str) -> MemoryUse:
        """What it uses of memory."""
        ...

    def limit(self, path: str) -> int | None:
        """How much memory it may take, in bytes; NO_LIMIT, or None: not measured."""
        ...

    def swap_left(self, path: str) -> int | None:
        """How much more swap it may take, in bytes; NO_LIMIT, or None: not measured."""
        ...

    def cpu_time(self, path: str) -> int | None:
        """For how long its tasks have been on a CPU, in nanoseconds; None: not measured."""
        ...

    def tasks(self, path: str) -> int | None:
        """How many it has, each thread counted; None: not measured."""
        ...

    def stall_file(self, path: str, resource: str) -> str | None:
        """Where it is told how long its tasks waited for `cpu`, `memory` or `io`; None: nowhere."""
        ...


def working_set(usage: int | None, *page_cache: int | None) -> int | None:
    """Never below zero, since they are not read at one moment (setMemoryStats in cadvisor).

    Args:
        usage: in use, in bytes.
        page_cache: what of that does not count: for a kubelet page cache that was not read twice
            lately, which the kernel drops first.
    """
    if usage is None:
        return None
    free = 0
    for one in page_cache:
        if one is None:
            return None
        free += one
    return max(usage - free, 0)


def as_limit(told: int | None) -> int | None:
    """A limit; NO_LIMIT where it is one that nothing can reach."""
    return NO_LIMIT if told is not None and told > _LARGEST_LIMIT else told


def left(limit: int | None, used: int | None) -> int | None:
    """What may be taken besides, down to zero; NO_LIMIT, or None: not measured."""
    if limit is None or limit == NO_LIMIT:
        return limit
    return None if used is None else max(limit - used, 0)
