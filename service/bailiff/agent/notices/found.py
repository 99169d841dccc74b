"""Which ways a host has: looked for once, at the start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bailiff.agent.notices.events import MemoryEvents
from bailiff.agent.notices.mark import UsageMarks
from bailiff.agent.notices.notifier import Ways
from bailiff.agent.notices.stalls import StallTrigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.agent.log import Log
    from bailiff.agent.notices.notifier import Marked, Way
    from bailiff.agent.readings.summary import MemoryCgroups
    from bailiff.agent.settings import NoticeSettings

K = TypeVar("K")
T = TypeVar("T")

# What marks are of: the node as a whole, and all its pods together.
NODE = "node"
PODS = "pods"


def find_ways(where: MemoryCgroups, settings: NoticeSettings, log: Log) -> Ways:
    """Every way that can be had; of one that cannot the log says why."""
    marked: dict[tuple[str, str], Marked] = {}
    others: dict[str, Way] = {}
    for of, cgroup in ((NODE, where.node), (PODS, where.pods)):
        if cgroup is None:
            continue
        if not where.unified:
            _try(marked, ("usage", of), partial(UsageMarks, cgroup), log)
        elif (cgroup / "memory.events").exists():
            make = partial(MemoryEvents, cgroup, lays_wire=settings.high_mark)
            _try(marked, ("events", of), make, log)
    if where.pressure is not None and settings.stall_milliseconds:
        trigger = partial(StallTrigger, where.pressure, settings.stall_milliseconds)
        _try(others, "stall", trigger, log)
    return Ways(marked, others)


def _try(ways: dict[K, T], key: K, make: Callable[[], T], log: Log) -> None:
    try:
        ways[key] = make()
    except OSError as error:
        log.warning("the kernel cannot tell this way", way=str(key), error=str(error))
