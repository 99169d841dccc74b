"""What a kubelet measures: its `/stats/summary` (k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go).

Only the fields that a rule reads. What is absent was not measured, which is something else than
zero, so every number may be None.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bailiff.kinds.meta import INT64_MAX, Int64, Time, Value
from bailiff.kinds.texts import LabelName, ObjectName, Uid

# A Go uint64, of which upstream takes what is beyond an int64 as negative, and would evict for it.
# No node has that many bytes: such a summary is wrong, and is refused.
Count = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class StallAverages(Value, frozen=True):
    """For how much of the time tasks waited for a resource, in percent (PSI).

    Attributes:
        avg10: of the last 10 s.
        avg60: of the last 60 s.
        avg300: of the last 300 s.
    """

    avg10: float = 0.0
    avg60: float = 0.0
    avg300: float = 0.0


class StallInformation(Value, frozen=True):
    """Pressure stall information of one resource (PSIStats).

    Attributes:
        full: all tasks waited at once.
        some: at least one waited.
    """

    full: StallAverages = StallAverages()
    some: StallAverages = StallAverages()


class StallStats(Value, frozen=True):
    """What is read of input and output, and of the CPU as well (CPUStats, IOStats).

    Attributes:
        time: when it was measured.
        psi: how long tasks waited for it.
    """

    time: Time | None = None
    psi: StallInformation | None = None


class CpuStats(StallStats, frozen=True):
    """What is read of the CPU.

    Attributes:
        time: when it was measured.
        psi: how long tasks waited for it.
        usage_nano_cores: in use, in billionths of a CPU.
    """

    usage_nano_cores: Count | None = None


class MemoryStats(Value, frozen=True):
    """Memory, in bytes.

    Attributes:
        time: when it was measured.
        available_bytes: capacity less working set, by the kubelet's reckoning.
        usage_bytes: in use, the page cache included.
        working_set_bytes: in use, less what the kernel may drop at once (inactive page cache).
        rss_bytes: anonymous memory.
        psi: how long tasks waited for memory.
    """

    time: Time | None = None
    available_bytes: Count | None = None
    usage_bytes: Count | None = None
    working_set_bytes: Count | None = None
    rss_bytes: Count | None = None
    psi: StallInformation | None = None


class SwapStats(Value, frozen=True):
    """Swap, in bytes.

    Attributes:
        time: when it was measured.
        swap_available_bytes: free.
        swap_usage_bytes: in use.
    """

    time: Time | None = None
    swap_available_bytes: Count | None = None
    swap_usage_bytes: Count | None = None


class FsStats(Value, frozen=True):
    """A file system, or what one part of it takes.

    Attributes:
        time: when it was measured.
        available_bytes: free, in bytes.
        capacity_bytes: its size, in bytes.
        used_bytes: taken by what this stands for, in bytes.
        inodes_free: free inodes.
        inodes: all inodes.
        inodes_used: taken by what this stands for.
    """

    time: Time | None = None
    available_bytes: Count | None = None
    capacity_bytes: Count | None = None
    used_bytes: Count | None = None
    inodes_free: Count | None = None
    inodes: Count | None = None
    inodes_used: Count | None = None


class VolumeStats(FsStats, frozen=True):
    """A volume of a pod.

    Attributes:
        name: of the entry in the pod's `spec.volumes`.
        time: when it was measured.
        available_bytes: free, in bytes.
        capacity_bytes: its size, in bytes.
        used_bytes: taken by what this stands for, in bytes.
        inodes_free: free inodes.
        inodes: all inodes.
        inodes_used: taken by what this stands for.
    """

    name: LabelName = ""


class RlimitStats(Value, frozen=True):
    """Processes of a node.

    Attributes:
        time: when it was measured.
        maxpid: as many may run.
        curproc: as many run.
    """

    time: Time | None = None
    maxpid: Int64 | None = None
    curproc: Int64 | None = None


class ProcessStats(Value, frozen=True, rename=None):
    """Processes of a pod.

    Attributes:
        process_count: as many run.
    """

    process_count: Count | None = None


class ContainerStats(Value, frozen=True):
    """A container, or one of the node's system containers.

    Attributes:
        name: of the container; of a system container `kubelet`, `runtime`, `pods`, `misc`, or on
            Windows `windows-global-commit-memory`.
        memory: what it takes of it.
        rootfs: its writable layer.
        logs: its logs.
    """

    name: LabelName = ""
    memory: MemoryStats | None = None
    rootfs: FsStats | None = None
    logs: FsStats | None = None


class RuntimeStats(Value, frozen=True):
    """The file systems of the container runtime.

    Attributes:
        image_fs: where images are kept.
        container_fs: where writable layers are kept.
    """

    image_fs: FsStats | None = None
    container_fs: FsStats | None = None


class NodeStats(Value, frozen=True):
    """What was measured of the node as a whole.

    Attributes:
        node_name: which node.
        system_containers: groups of processes, `pods` among them.
        cpu: of the node.
        memory: of the node.
        io: of the node.
        fs: the file system of the kubelet's own directory (nodefs).
        runtime: the file systems of the container runtime.
        rlimit: processes.
        swap: of the node.
    """

    node_name: ObjectName = ""
    system_containers: tuple[ContainerStats, ...] = ()
    cpu: CpuStats | None = None
    memory: MemoryStats | None = None
    io: StallStats | None = None
    fs: FsStats | None = None
    runtime: RuntimeStats | None = None
    rlimit: RlimitStats | None = None
    swap: SwapStats | None = None


class PodReference(Value, frozen=True):
    """Whom a pod's entry is about.

    Attributes:
        name: of the pod.
        namespace: of the pod.
        uid: of the pod; of a static one that of its file, not of its mirror.
    """

    name: ObjectName = ""
    namespace: LabelName = ""
    uid: Uid = ""


class PodStats(
    Value,
    frozen=True,
    rename={
        "pod_ref": "podRef",
        "ephemeral_storage": "ephemeral-storage",
        "process_stats": "process_stats",
    },
):
    """What was measured of a pod.

    Attributes:
        pod_ref: which pod.
        containers: one entry each.
        cpu: of all of it.
        memory: of all of it.
        io: of all of it.
        volume: one entry for each volume that was measured.
        ephemeral_storage: writable layers, logs and local volumes together.
        process_stats: its processes.
        swap: of all of it.
    """

    pod_ref: PodReference = PodReference()
    containers: tuple[ContainerStats, ...] = ()
    cpu: CpuStats | None = None
    memory: MemoryStats | None = None
    io: StallStats | None = None
    volume: tuple[VolumeStats, ...] = ()
    ephemeral_storage: FsStats | None = None
    process_stats: ProcessStats | None = None
    swap: SwapStats | None = None


class Summary(Value, frozen=True):
    """What a kubelet answers to GET /stats/summary.

    Attributes:
        node: of the node as a whole.
        pods: one entry for each pod that was measured.
    """

    node: NodeStats = NodeStats()
    pods: tuple[PodStats, ...] = ()
