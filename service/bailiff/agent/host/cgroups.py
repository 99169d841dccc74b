"""What a cgroup says of memory and processes, in both versions.

Source: cadvisor's container/libcontainer/handler.go (setMemoryStats), whose numbers a kubelet's
summary has: the working set is what is in use less the page cache that the kernel may drop at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.host.files import fields_of, number_of, text_of
from bailiff.kinds.stats import StallAverages, StallInformation

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.agent.host.mounts import CgroupMounts

# Where no limit is set v1 tells the largest number of pages, in bytes.
_NO_LIMIT = 2**62


class Memory(NamedTuple):
    """Of one cgroup, in bytes; None: it was not measured.

    Attributes:
        usage: in use, page cache included.
        working_set: in use, less inactive page cache.
        rss: anonymous memory.
        limit: at most so much may be in use; None: there is no limit.
    """

    usage: int | None
    working_set: int | None
    rss: int | None
    limit: int | None


def memory_of(cgroup: Path, mounts: CgroupMounts) -> Memory:
    """What is in use in a cgroup of the memory controller."""
    stat = fields_of(text_of(cgroup / "memory.stat"))
    if not mounts.unified:
        usage = number_of(cgroup / "memory.usage_in_bytes")
        limit = number_of(cgroup / "memory.limit_in_bytes")
        names = ("total_inactive_file", "total_rss")
    else:
        usage = number_of(cgroup / "memory.current")
        limit = number_of(cgroup / "memory.max")
        names = ("inactive_file", "anon")
        if usage is None and cgroup == mounts.memory and stat.keys() >= {"anon", "file"}:
            # The root has no memory.current (rootStatsFromMeminfo in opencontainers/cgroups,
            # fs2/memory.go).
            usage = stat["anon"] + stat["file"]
    inactive, rss = (stat.get(name) for name in names)
    bounded = None if limit is None or limit >= _NO_LIMIT else limit
    return Memory(usage, _working_set(usage, inactive), rss, bounded)


def _working_set(usage: int | None, inactive: int | None) -> int | None:
    if usage is None or inactive is None:
        return None
    return max(usage - inactive, 0)


def swap_of(cgroup: Path, mounts: CgroupMounts) -> int | None:
    """Bytes of swap in use."""
    if mounts.unified:
        return number_of(cgroup / "memory.swap.current")
    both = number_of(cgroup / "memory.memsw.usage_in_bytes")
    usage = number_of(cgroup / "memory.usage_in_bytes")
    return None if both is None or usage is None else max(both - usage, 0)


def processes_of(cgroup: Path) -> int | None:
    """How many processes and threads are in a cgroup of the pids controller."""
    return number_of(cgroup / "pids.current")


def stalls_of(path: Path) -> StallInformation | None:
    """What a file of PSI says (Documentation/accounting/psi.rst); None: there is none."""
    lines = {}
    for line in text_of(path).splitlines():
        kind, *told = line.split()
        values = dict(part.split("=", 1) for part in told if "=" in part)
        lines[kind] = _averages(values)
    some = lines.get("some")
    if some is None:
        return None
    return StallInformation(some=some, full=lines.get("full") or StallAverages())


def _averages(values: dict[str, str]) -> StallAverages | None:
    try:
        told = [float(values[name]) for name in ("avg10", "avg60", "avg300")]
    except (KeyError, ValueError):
        return None
    if not all(0.0 <= one <= 100.0 for one in told):
        return None
    return StallAverages(avg10=told[0], avg60=told[1], avg300=told[2])
