"""Where cgroups are mounted, by /proc/self/mountinfo (proc_pid_mountinfo(5))."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.places import CgroupMounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.agent.readings.places import Places

# A node with 500 pods has some 10,000 mounts. Lines are read one by one, and never kept.
_MOST_LINES = 200_000
_MOST_BYTES = 16 * 1024
# As the kernel writes blanks and backslashes in paths.
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")
# Of a line: the root within the file system, the mount point, then behind the dash the type, the
# source, and the options of the file system.
_FIELDS_BEFORE, _FIELDS_BEHIND = 6, 3
_CONTROLLERS = ("memory", "cpuacct", "pids")


class _Mount(NamedTuple):
    at: str
    above: int
    kind: str
    options: frozenset[str]


def find_mounts(places: Places) -> CgroupMounts:
    """Those below the host's root; of several of one kind the one that shows most."""
    below = places.root.rstrip("/") + "/"
    seen = [one for one in _mounts(places.mountinfo) if one.at.startswith(below)]
    # A mount may show the cgroup of a container alone. In that container it looks like any other;
    # the host's is told by the way up to its root.
    seen.sort(key=lambda one: (-one.above, len(one.at)))
    found = {name: _first(seen, "cgroup", name) for name in _CONTROLLERS}
    return CgroupMounts(**found, unified=_first(seen, "cgroup2", None))


def _first(mounts: list[_Mount], kind: str, controller: str | None) -> str | None:
    for one in mounts:
        if one.kind == kind and (controller is None or controller in one.options):
            return one.at
    return None


def _mounts(mountinfo: str) -> Iterator[_Mount]:
    try:
        with Path(mountinfo).open("rb") as lines:
            for _ in range(_MOST_LINES):
                line = lines.readline(_MOST_BYTES)
                if not line:
                    return
                mount = _mount(line)
                if mount is not None:
                    yield mount
    except (OSError, ValueError):
        return


def _mount(line: bytes) -> _Mount | None:
    """A mount of cgroups; None: it is another, or shows only a part of them."""
    before, dash, behind = line.partition(b" - cgroup")
    first, last = before.split(), (b"cgroup" + behind).split()
    if not dash or len(first) < _FIELDS_BEFORE or len(last) < _FIELDS_BEHIND:
        return None
    root, point = first[3], first[4]
    # Seen from within a cgroup namespace the root of one that is mounted above it is `/../..`
    # (cgroup_show_path in kernel/cgroup/cgroup.c).
    ups = [part for part in root.split(b"/") if part]
    if any(part != b".." for part in ups):
        return None
    kind, options = last[0].decode("ascii", "replace"), last[2].decode("ascii", "replace")
    return _Mount(_path(point), len(ups), kind, frozenset(options.split(",")))


def _path(escaped: bytes) -> str:
    return os.fsdecode(_OCTAL.sub(lambda found: bytes([int(found[1], 8)]), escaped))
