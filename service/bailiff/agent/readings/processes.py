"""How many processes there are, of the node and of a pod."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from bailiff.agent.readings.files import is_there, number, number_in, read
from bailiff.kinds.stats import ProcessStats, RlimitStats

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bailiff.agent.readings.cgroup import Cgroups

_LIMITS = ("sys/kernel/pid_max", "sys/kernel/threads-max")
# Bytes of one list: some 30,000 processes.
_MOST_BYTES = 256 * 1024
# Cgroups that a pod may have; containers may make some below their own.
_MOST_CGROUPS = 1000
# Links to a folder that has none in it, where file systems count so, as that of cgroups does: most
# have none, and to look takes a fraction of the time in which their files are listed.
_NO_FOLDERS = 2
# CRI-O has a process of its own beside each container, in a cgroup called `crio-conmon-ID.scope`.
_CONMON = "conmon"


def processes_of_node(proc: str, now: datetime) -> RlimitStats | None:
    """As many as run, threads counted, and as may (Stats in pkg/kubelet/stats/pidlimit).

    Args:
        proc: the folder.
        now: when.

    Returns:
        None where nothing was measured.
    """
    limits = [number_in(f"{proc}/{name}") for name in _LIMITS]
    most = min((one for one in limits if one is not None), default=None)
    running = _running(read(f"{proc}/loadavg") or b"")
    if most is None and running is None:
        return None
    return RlimitStats(time=now, maxpid=most, curproc=running)


def _running(loadavg: bytes) -> int | None:
    """As in `1.36 3.49 4.53 2/3518 3715089`, where 3518 are (proc_loadavg(5))."""
    words = loadavg.split()
    if len(words) != 5:
        return None
    _, slash, all_of_them = words[3].partition(b"/")
    return number(all_of_them) if slash else None


def processes_of_pod(
    cgroups: Cgroups, path: str, containers: Collection[str]
) -> ProcessStats | None:
    """As many as run in the containers of a pod; None: not measured.

    The kubelet adds up their lists, each process counted once, however many threads it has
    (processStatsFromProcs in cadvisor). Which cgroup is that of the sandbox only the container
    runtime knows: of those that are not known as a container's it is one with a single process.
    Where a list is too long, or cannot be read, as that of a threaded cgroup, all tasks count.

    Args:
        cgroups: of the node.
        path: of the pod's cgroup.
        containers: names of the cgroups in it that are known to be a container's.
    """
    by_child = _by_child(cgroups.folder(path))
    if not by_child:
        tasks = cgroups.tasks(path)
        return None if tasks is None else ProcessStats(process_count=tasks)
    counted = {name: count for name, count in by_child.items() if _CONMON not in name}
    others = (count for name, count in counted.items() if name and name not in containers)
    return ProcessStats(process_count=sum(counted.values()) - (1 in others))


def _by_child(top: str) -> dict[str, int] | None:
    """By the cgroups in one, each with all below it, and by an empty name for itself.

    Nothing where it is gone; None where not all can be counted.
    """
    found: dict[str, int] = {}
    waiting = [top]
    for _ in range(_MOST_CGROUPS):
        if not waiting:
            return found
        folder = waiting.pop()
        listed = read(f"{folder}/cgroup.procs", _MOST_BYTES)
        if listed is None:
            # A container that has ended just now takes its cgroup with it.
            if is_there(folder):
                return None
            continue
        child = folder[len(top) + 1 :].partition("/")[0]
        found[child] = found.get(child, 0) + listed.count(b"\n")
        waiting += _folders(folder)
    return None if waiting else found


def _folders(folder: str) -> list[str]:
    try:
        if os.lstat(folder).st_nlink == _NO_FOLDERS:
            return []
        with os.scandir(folder) as entries:
            found = (one.path for one in entries if one.is_dir(follow_symlinks=False))
            return list(islice(found, _MOST_CGROUPS))
    except OSError:
        return []
