"""Which version of cgroups a host goes by: where both are mounted, the one that has memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.readings.cgroup_v1 import CgroupsV1
from bailiff.agent.readings.cgroup_v2 import CgroupsV2
from bailiff.agent.readings.files import read

if TYPE_CHECKING:
    from bailiff.agent.readings.cgroup import Cgroups
    from bailiff.agent.readings.places import CgroupMounts


def cgroups_of(mounts: CgroupMounts, *, active_cache_counts: bool = True) -> Cgroups | None:
    """Those with the memory controller; None: it is nowhere. `active_cache_counts` as of CgroupsV1.

    A controller is in one tree at a time, so a host with both has memory in one of them.
    """
    if mounts.memory is not None:
        return CgroupsV1(mounts.memory, mounts, active_cache_counts=active_cache_counts)
    if mounts.unified is None:
        return None
    controllers = read(f"{mounts.unified}/cgroup.controllers")
    has_memory = controllers is not None and b"memory" in controllers.split()
    if not has_memory:
        return None
    return CgroupsV2(mounts.unified, active_cache_counts=active_cache_counts)
