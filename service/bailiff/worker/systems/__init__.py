"""The systems, as the worker runs them: what each follows, finds, and writes besides evictions.

A system is a folder here and a line in `halves_of`; one that reads a pod and its node, and nothing
else, needs neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import structlog

from bailiff.decisions import SYSTEMS as CORE_SYSTEMS
from bailiff.worker.systems.device_taints.following import DeviceFollowing
from bailiff.worker.systems.device_taints.system import DeviceTaintsInWorker
from bailiff.worker.systems.node_taints.system import NodeTaintsInWorker
from bailiff.worker.systems.pod_and_node import PodAndNodeSystem
from bailiff.worker.systems.system import Parts, SystemInWorker

if TYPE_CHECKING:
    from bailiff.decisions import Systems

# Makes a system out of the parts of one worker: its class, or that with more of its arguments.
MakeSystem: TypeAlias = Callable[[Parts], SystemInWorker]

log = structlog.get_logger(__name__)


def halves_of(
    systems: Systems, devices: MakeSystem = DeviceTaintsInWorker
) -> tuple[MakeSystem, ...]:
    """The worker's half of each system, in the order of their findings.

    One that has none here, and has facts of its own, is asked by the faces alone, as the log says.

    Args:
        systems: of the process.
        devices: makes the half that follows devices; as it stands it follows none.
    """
    own: dict[str, MakeSystem] = {
        NodeTaintsInWorker.name: NodeTaintsInWorker,
        DeviceTaintsInWorker.name: devices,
    }
    for system in systems.all:
        if system.name in own:
            continue
        if system.facts.__struct_fields__:
            why = "no eviction by this system: it has facts of its own, and no half in the worker"
            log.warning(why, system=system.name)
        else:
            own[system.name] = partial(PodAndNodeSystem, system)
    return tuple(own[system.name] for system in systems.all if system.name in own)


# Those of a worker that nobody has told of a cluster.
SYSTEMS = halves_of(CORE_SYSTEMS)

__all__ = [
    "SYSTEMS",
    "DeviceFollowing",
    "DeviceTaintsInWorker",
    "MakeSystem",
    "NodeTaintsInWorker",
    "Parts",
    "PodAndNodeSystem",
    "SystemInWorker",
    "halves_of",
]
