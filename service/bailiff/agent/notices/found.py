"""Which ways a host has: looked for once, at the start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bailiff.agent.notices.events import MemoryEvents
from bailiff.agent.notices.mark import UsageMarks
from bailiff.agent.notices.marked import NODE, PODS, PODS_FOR_NODE
from bailiff.agent.notices.notifier import Ways
from bailiff.agent.notices.stalls import StallTrigger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bailiff.agent.log import Log
    from bailiff.agent.notices.notifier import Marked, Way
    from bailiff.agent.readings.summary import MemoryCgroups
    from bailiff.agent.settings import NoticeSettings

K = TypeVar("K")
T = TypeVar("T")


def find_ways(where: MemoryCgroups, settings: NoticeSettings, log: Log) -> Ways:
    """Every way that can be had; of one that cannot the log says why."""
    marked: dict[tuple[str, str], Marked] = {}
    others: dict[str, Way] = {}
    for of, cgroup in _cgroups(where).items():
        if where.unified:
            make = partial(MemoryEvents, cgroup, lays_wire=settings.high_mark)
            _try(marked, ("events", of), make, log)
        else:
            _try(marked, ("usage", of), partial(UsageMarks, cgroup), log)
    if where.pressure is not None and settings.stall_milliseconds:
        trigger = partial(StallTrigger, where.pressure, settings.stall_milliseconds)
        _try(others, "stall", trigger, log)
    return Ways(marked, others)


def _cgroups(where: MemoryCgroups) -> dict[str, Path]:
    """Those that tell, by what their marks are of."""
    node, pods = where.node, where.pods
    if where.unified and node is not None and not (node / "memory.events.local").exists():
        # The root of cgroup v2, which tells nothing.
        return {} if pods is None else {PODS_FOR_NODE: pods}
    return {of: one for of, one in ((NODE, node), (PODS, pods)) if one is not None}


def _try(ways: dict[K, T], key: K, make: Callable[[], T], log: Log) -> None:
    try:
        ways[key] = make()
    except OSError as error:
        log.warning("the kernel cannot tell this way", way=str(key), error=str(error))
