"""Where the cgroups of this host are mounted, by /proc/self/mountinfo (proc(5))."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bailiff.agent.host.files import text_of

_MEMORY, _PIDS = "memory", "pids"


class CgroupMounts(NamedTuple):
    """The roots of the hierarchies.

    Attributes:
        memory: of the memory controller; None: there is none.
        pids: of the pids controller; None: there is none.
        unified: memory is of cgroup v2.
    """

    memory: Path | None
    pids: Path | None
    unified: bool


def find_mounts(root: str = "") -> CgroupMounts:
    """What is mounted; where both versions are, the one that has the memory controller counts.

    Args:
        root: where the host's files are seen, as `/host`; empty: `/`.
    """
    # Our own mounts: what the host has mounted is seen below `root`, if that was mounted with it.
    first: dict[str, Path] = {}
    for line in _mountinfo(root).splitlines():
        place, _, kind = line.partition(" - ")
        parts, told = place.split(), kind.split()
        if len(parts) < 5 or len(told) < 3 or told[0] not in ("cgroup", "cgroup2"):
            continue
        where = Path(root + parts[4]) if root else Path(parts[4])
        names = ("unified",) if told[0] == "cgroup2" else told[2].split(",")
        for name in names:
            first.setdefault(name, where)
    unified = first.get("unified")
    if _MEMORY in first:
        return CgroupMounts(first[_MEMORY], first.get(_PIDS), unified=False)
    if unified is not None and _MEMORY in text_of(unified / "cgroup.controllers").split():
        return CgroupMounts(unified, unified, unified=True)
    return CgroupMounts(None, None, unified=False)


def _mountinfo(root: str) -> str:
    """Of process 1 where the host's /proc is seen, else of ourselves."""
    return text_of(f"{root}/proc/1/mountinfo") or text_of("/proc/self/mountinfo")
