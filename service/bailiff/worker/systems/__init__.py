"""The systems, as the worker runs them: what each follows, finds, and writes besides evictions.

A system is a folder here and a line in `HALVES`; one that reads a pod and its node, and nothing
else, needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import structlog

from bailiff.decisions import SYSTEMS as CORE_SYSTEMS
from bailiff.worker.systems.by_facts import SystemByFacts
from bailiff.worker.systems.device_taints.system import DeviceTaintsInWorker
from bailiff.worker.systems.node_taints.system import NodeTaintsInWorker
from bailiff.worker.systems.system import Parts, Source, SystemInWorker

if TYPE_CHECKING:
    from bailiff.decisions import Systems

# Makes a system out of the parts of one worker: its class, or that with more of its arguments.
MakeSystem: TypeAlias = Callable[[Parts], SystemInWorker]

log = structlog.get_logger(__name__)


# Those that follow something besides nodes and pods, or write something besides evictions.
HALVES: Mapping[str, MakeSystem] = {
    NodeTaintsInWorker.name: NodeTaintsInWorker,
    DeviceTaintsInWorker.name: DeviceTaintsInWorker,
}

# Asked by the faces alone, unless the operator has the worker act by them too: then their halves
# are among those that `halves_of` is given.
OPT_IN = frozenset({"pressure", "node-loss"})


def halves_of(
    systems: Systems, halves: Mapping[str, MakeSystem] = HALVES
) -> tuple[MakeSystem, ...]:
    """The worker's half of each system, in the order of their findings.

    One that has none, and has facts of its own, is asked by the faces alone, as the log says.

    Args:
        systems: of the process.
        halves: by the system's name.
    """
    found: list[MakeSystem] = []
    for system in systems.all:
        if system.name in halves:
            found.append(halves[system.name])
        elif system.name in OPT_IN:
            continue
        elif system.facts.__struct_fields__:
            why = "no eviction by this system: it has facts of its own, and no half in the worker"
            log.warning(why, system=system.name)
        else:
            found.append(partial(SystemByFacts, system))
    return tuple(found)


SYSTEMS = halves_of(CORE_SYSTEMS)

__all__ = [
    "HALVES",
    "SYSTEMS",
    "DeviceTaintsInWorker",
    "MakeSystem",
    "NodeTaintsInWorker",
    "Parts",
    "Source",
    "SystemByFacts",
    "SystemInWorker",
    "halves_of",
]
