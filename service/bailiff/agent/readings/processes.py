"""How many processes there are, of the node and of a pod."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from bailiff.agent.readings.files import number, number_in, read
from bailiff.kinds.stats import ProcessStats, RlimitStats

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from bailiff.agent.readings.cgroup import Cgroups

_LIMITS = ("sys/kernel/pid_max", "sys/kernel/threads-max")
# Bytes of one list: some 30,000 processes.
_MOST_BYTES = 256 * 1024
# Cgroups that a pod may have; containers may make some below their own.
_MOST_CGROUPS = 1000


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


def processes_of_pod(cgroups: Cgroups, path: str) -> ProcessStats | None:
    """As many as a pod has, the one of its sandbox included; None: not measured.

    The kubelet adds up the lists of a pod's containers (processStatsFromProcs in cadvisor), each
    process counted once, however many threads it has. Where a list is too long, or cannot be read,
    as that of a threaded cgroup, all tasks are counted instead.
    """
    total = 0
    for folder in _below(cgroups.folder(path)):
        listed = None if folder is None else read(f"{folder}/cgroup.procs", _MOST_BYTES)
        if listed is None:
            # It may be gone by now; the pod's own number is right then, too.
            tasks = cgroups.tasks(path)
            return None if tasks is None else ProcessStats(process_count=tasks)
        total += listed.count(b"\n")
    return ProcessStats(process_count=total)


def _below(top: str) -> Iterator[str | None]:
    """A cgroup's folder and those below it; None where there are too many."""
    waiting = [top]
    for _ in range(_MOST_CGROUPS):
        if not waiting:
            return
        folder = waiting.pop()
        yield folder
        waiting += _folders(folder)
    if waiting:
        yield None


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = (one.path for one in entries if one.is_dir(follow_symlinks=False))
            return list(islice(found, _MOST_CGROUPS))
    except OSError:
        return []
