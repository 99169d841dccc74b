"""What a kubelet measures: the answer of GET /stats/summary, made up from annotations.

The form is that of k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go. Memory is what annotations
say; disk, inodes and processes are always plenty, and nothing ever waits (PSI).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import format_time, part
from bailiff_demo.stats.annotations import MEMORY, SYSTEM_MEMORY, bytes_of, told_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff_demo.objects import JsonObject

_MI = 2**20
_GI = 2**30
# One file system holds all: its size, what images and the system take, and a pod.
_DISK, _DISK_USED, _DISK_OF_POD = 100 * _GI, 10 * _GI, _MI
_INODES, _INODES_USED, _INODES_OF_POD = 6_553_600, 200_000, 10
_MAX_PROCESSES, _PROCESSES, _PROCESSES_OF_POD = 32_768, 120, 3


def summary_of(node: JsonObject, pods: Sequence[JsonObject], now: datetime) -> JsonObject:
    """The summary of a node at an instant.

    Args:
        node: as it is stored.
        pods: that are bound to it; those that do not run are left out, as a kubelet has no
            containers of them to measure. One that is being deleted runs until it is gone.
        now: when everything was measured.
    """
    time = format_time(now)
    capacity = bytes_of(part(node, "status", "capacity").get("memory", "0"))
    running = [pod for pod in pods if part(pod, "status").get("phase") == "Running"]
    # Nobody can use more than there is.
    used = [min(told_bytes(pod, MEMORY), capacity) for pod in running]
    return {
        "node": _node(node, capacity, used, time),
        "pods": [_pod(pod, took, time) for pod, took in zip(running, used, strict=True)],
    }


def _node(node: JsonObject, capacity: int, used: list[int], time: str) -> JsonObject:
    meta, of_pods = node["metadata"], min(sum(used), capacity)
    taken = min(told_bytes(node, SYSTEM_MEMORY) + of_pods, capacity)
    # What pods may have together, as the limit of their cgroup says.
    allocatable = bytes_of(part(node, "status", "allocatable").get("memory", capacity))
    processes = _PROCESSES + len(used) * _PROCESSES_OF_POD
    disk = _fs(time, _DISK_USED + len(used) * _DISK_OF_POD, _INODES_USED)
    pods = {"name": "pods", "startTime": meta.get("creationTimestamp", time)}
    return {
        "nodeName": meta["name"],
        "startTime": meta.get("creationTimestamp", time),
        "systemContainers": [pods | {"memory": _memory(time, of_pods, allocatable)}],
        "cpu": {"time": time, "psi": _NO_STALLS},
        "memory": _memory(time, taken, capacity) | {"psi": _NO_STALLS},
        "io": {"time": time, "psi": _NO_STALLS},
        "fs": disk,
        "runtime": {"imageFs": disk, "containerFs": disk},
        "rlimit": {"time": time, "maxpid": _MAX_PROCESSES, "curproc": processes},
        "swap": _no_swap(time),
    }


def _pod(pod: JsonObject, used: int, time: str) -> JsonObject:
    meta, spec = pod["metadata"], part(pod, "spec")
    named = {name: meta.get(name, "") for name in ("name", "namespace", "uid")}
    started = part(pod, "status").get("startTime", time)
    names = [one.get("name", "") for one in spec.get("containers") or []]
    # The first container takes all of it.
    shares = [used, *(0 for _ in names[1:])]
    return {
        "podRef": named,
        "startTime": started,
        "containers": [
            _container(name, share, started, time)
            for name, share in zip(names, shares, strict=False)
        ],
        "memory": _memory(time, used),
        "volume": [
            _fs(time, 0, 1) | {"name": one.get("name", "")} for one in spec.get("volumes") or []
        ],
        "ephemeral-storage": _fs(time, _DISK_OF_POD, _INODES_OF_POD),
        "process_stats": {"process_count": _PROCESSES_OF_POD},
        "swap": _no_swap(time),
    }


def _container(name: str, used: int, started: str, time: str) -> JsonObject:
    return {
        "name": name,
        "startTime": started,
        "memory": _memory(time, used),
        "rootfs": _fs(time, 0, 1),
        "logs": _fs(time, 0, 1),
    }


def _memory(time: str, used: int, limit: int | None = None) -> JsonObject:
    """In use, none of it page cache, and what is left where there is a limit."""
    told = dict.fromkeys(("usageBytes", "workingSetBytes", "rssBytes"), used)
    left = {} if limit is None else {"availableBytes": max(0, limit - used)}
    return {"time": time, **left, **told}


def _fs(time: str, used: int, inodes: int) -> JsonObject:
    return {
        "time": time,
        "availableBytes": _DISK - _DISK_USED,
        "capacityBytes": _DISK,
        "usedBytes": used,
        "inodesFree": _INODES - _INODES_USED,
        "inodes": _INODES,
        "inodesUsed": inodes,
    }


def _no_swap(time: str) -> JsonObject:
    return {"time": time, "swapAvailableBytes": 0, "swapUsageBytes": 0}


_NO_STALLS = {
    kind: {"total": 0, "avg10": 0.0, "avg60": 0.0, "avg300": 0.0} for kind in ("full", "some")
}
