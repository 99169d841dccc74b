"""Where a node's numbers are read: settings, so that a test has a node of its own in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bailiff.agent.readings.files import is_plain


class CgroupMounts(NamedTuple):
    """Where cgroups are mounted, as this process sees it; None: they are not.

    Attributes:
        memory: the memory controller of cgroup v1.
        cpuacct: that of time on the CPU, of cgroup v1.
        pids: that of tasks, of cgroup v1.
        unified: cgroup v2.
    """

    memory: str | None = None
    cpuacct: str | None = None
    pids: str | None = None
    unified: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """All of them, of the host, but for `mountinfo`, `cgroups` and `triggers`, which are our own.

    Attributes:
        root: where the host's files are seen, as `/host` in a container; empty: `/`.
        proc: where the kernel tells of memory, processes and stalls.
        huge_pages: where it tells of huge pages by their sizes.
        mountinfo: of this process, so that mounts are found as it sees them.
        cgroups: where those are mounted; None: as mountinfo says.
        triggers: of stalls, which the kernel takes by any mount that is not read-only, as the
            host's is in a container.
        cgroup: the one that is taken for the node, below the mount point; empty: the root.
        kubelet_dir: with the volumes of pods; its file system is nodefs.
        pod_logs_dir: with the logs of pods.
        image_dir: on the file system of images; empty: the kubelet's folder.
        container_dir: on the file system of writable layers; empty: that of images.
    """

    root: str = ""
    proc: str = "/proc"
    huge_pages: str = "/sys/kernel/mm/hugepages"
    mountinfo: str = "/proc/self/mountinfo"
    cgroups: CgroupMounts | None = None
    triggers: str = "/proc/pressure"
    cgroup: str = ""
    kubelet_dir: str = "/var/lib/kubelet"
    pod_logs_dir: str = "/var/log/pods"
    image_dir: str = ""
    container_dir: str = ""

    def __post_init__(self) -> None:
        """Refuse a cgroup that is none, and a root that depends on where the process began.

        Raises:
            ValueError: the cgroup's path has a part that leads elsewhere, or the root no `/` first.
        """
        if self.root and not self.root.startswith("/"):
            raise ValueError(f"host root: must be a path from / on, got {self.root[:64]!r}")
        parts = self.cgroup.strip("/").split("/")
        if any(parts) and not all(map(is_plain, parts)):
            raise ValueError(f"cgroup: {self.cgroup!r} is no path below a mount point")

    @property
    def node(self) -> str:
        """The node's cgroup, as it stands behind a mount point: empty, or with a slash first."""
        path = self.cgroup.strip("/")
        return f"/{path}" if path else ""

    @property
    def images(self) -> str:
        """On the file system of images, as this process sees it."""
        return self.seen(self.image_dir or self.kubelet_dir)

    @property
    def containers(self) -> str:
        """On the file system of writable layers, as this process sees it."""
        return self.seen(self.container_dir) if self.container_dir else self.images

    def seen(self, path: str) -> str:
        """A path of the host, as this process sees it."""
        return self.root.rstrip("/") + path
