"""The systems, as the worker runs them: what each follows, finds, and writes besides evictions.

A system is a folder here and a line in the list that the composition root gives to the worker.
"""

from collections.abc import Callable
from typing import TypeAlias

from bailiff.worker.systems.device_taints.following import DeviceFollowing
from bailiff.worker.systems.device_taints.system import DeviceTaintsInWorker
from bailiff.worker.systems.node_taints.system import NodeTaintsInWorker
from bailiff.worker.systems.pod_and_node import PodAndNodeSystem
from bailiff.worker.systems.system import Parts, SystemInWorker

# Makes a system out of the parts of one worker: its class, or that with more of its arguments.
MakeSystem: TypeAlias = Callable[[Parts], SystemInWorker]

# Those of a worker that nobody has told of a cluster: taints of devices are followed by nobody.
SYSTEMS: tuple[MakeSystem, ...] = (NodeTaintsInWorker, DeviceTaintsInWorker)

__all__ = [
    "SYSTEMS",
    "DeviceFollowing",
    "DeviceTaintsInWorker",
    "MakeSystem",
    "NodeTaintsInWorker",
    "Parts",
    "PodAndNodeSystem",
    "SystemInWorker",
]
