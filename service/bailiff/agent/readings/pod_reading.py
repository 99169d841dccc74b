"""What a pod uses, as a summary tells it.

Source: listPodStatsPartiallyFromCRI in pkg/kubelet/stats/cri_stats_provider.go.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.agent.readings.measures import cpu_stats, io_stats, memory_stats, swap_stats
from bailiff.agent.readings.pod_cgroups import containers_in
from bailiff.agent.readings.pressure_stall import stalls_in
from bailiff.agent.readings.processes import processes_of_pod
from bailiff.kinds.stats import ContainerStats, PodReference, PodStats

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bailiff.agent.readings.cgroup import Cgroups
    from bailiff.agent.readings.cpu_usage import CpuUsage
    from bailiff.agent.readings.pod_disk import PodDisk
    from bailiff.agent.readings.pods import PodOnNode
    from bailiff.agent.readings.volume_uses import PodVolumes
    from bailiff.kinds.stats import MemoryStats


class Meter(NamedTuple):
    """What pods are read by.

    Attributes:
        cgroups: of the node.
        cpu: remembers what was read of the CPU before.
        now: when.
    """

    cgroups: Cgroups
    cpu: CpuUsage
    now: datetime


def on_disk(pod: PodOnNode, disk: PodDisk, volumes: PodVolumes | None) -> PodStats:
    """What a pod takes on the disk; of memory and the rest nothing is told yet.

    Args:
        pod: which.
        disk: what it takes.
        volumes: its volumes, as they were measured; None: which it has is not known.
    """
    containers = (
        ContainerStats(name=name, **disk.containers[one]._asdict())
        for one, name in pod.containers.items()
    )
    return PodStats(
        pod_ref=PodReference(name=pod.name, namespace=pod.namespace, uid=pod.uid),
        containers=tuple(containers),
        volume=() if volumes is None else tuple(use.stats for use in volumes.uses.values()),
        ephemeral_storage=disk.ephemeral_storage,
    )


def with_cgroup(stats: PodStats, pod: PodOnNode, path: str, meter: Meter) -> PodStats:
    """Add what a pod's cgroup tells.

    Args:
        stats: what is known without.
        pod: which.
        path: of the cgroup.
        meter: what it is read by.
    """
    cgroups, now = meter.cgroups, meter.now
    use = cgroups.memory(path)
    rate = meter.cpu.rate(path, cgroups.cpu_time(path), time.monotonic_ns())
    cpu, stalled, io = (stalls_in(cgroups.stall_file(path, one)) for one in ("cpu", "memory", "io"))
    folders = containers_in(cgroups.folder(path))
    known = {folders[one] for one in pod.containers if one in folders}
    return replace(
        stats,
        containers=_with_memory(stats, pod, path, folders, meter),
        cpu=cpu_stats(rate, cpu, now),
        memory=memory_stats(use, cgroups.limit(path), stalled, now),
        io=io_stats(io, now),
        process_stats=processes_of_pod(cgroups, path, known),
        swap=swap_stats(use.swap, None, now),
    )


def _with_memory(
    stats: PodStats, pod: PodOnNode, path: str, folders: Mapping[str, str], meter: Meter
) -> tuple[ContainerStats, ...]:
    return tuple(
        replace(container, memory=_of_container(f"{path}/{folders[one]}", meter))
        if one in folders
        else container
        for one, container in zip(pod.containers, stats.containers, strict=True)
    )


def _of_container(path: str, meter: Meter) -> MemoryStats | None:
    cgroups = meter.cgroups
    # No rule reads for how long a container waited.
    return memory_stats(cgroups.memory(path), cgroups.limit(path), None, meter.now)
