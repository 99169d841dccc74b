"""A host in a folder: what the kernel, systemd and a kubelet would have put there."""

from __future__ import annotations

from pathlib import Path

from bailiff.agent.readings.places import Places
from bailiff.agent.readings.summary import NodeReadings
from bailiff.kinds.stats import StallAverages, StallInformation

MIB = 1024 * 1024
UID = "53336d35-4e14-41c6-8f4c-96a890a83e48"
STATIC_UID = "a1b2c3d4e5f60718293a4b5c6d7e8f90"
CONTAINER = "4fa6e0f0c6786287e131c3852c58a2e01cc697a68231826813597e4994f1d6e2"
SANDBOX = "9e8f0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789ab"
STALLS = """some avg10=1.50 avg60=2.25 avg300=3.00 total=985697648
full avg10=0.50 avg60=0.25 avg300=0.10 total=100
"""
STALLED = StallInformation(
    some=StallAverages(avg10=1.5, avg60=2.25, avg300=3.0),
    full=StallAverages(avg10=0.5, avg60=0.25, avg300=0.1),
)
CGROUPFS = f"kubepods/burstable/pod{UID}"
_SLICE = f"kubepods-burstable-pod{UID.replace('-', '_')}.slice"
SYSTEMD = f"kubepods.slice/kubepods-burstable.slice/{_SLICE}"
MEMINFO = """MemTotal:       1048576 kB
MemFree:          20000 kB
MemAvailable:    524288 kB
SwapTotal:       204800 kB
SwapFree:        102400 kB
HugePages_Total:      0
Hugepagesize:      2048 kB
Hugetlb:              0 kB
"""


class Host:
    """Writes files below a folder, as `/` of a host that a container sees there.

    Attributes:
        root: the folder.
        memory: where the memory controller is mounted.
        unified: cgroup v2, with or without memory.
    """

    def __init__(self, root: Path, version: int = 2) -> None:
        self.root = root
        self.version = version
        self.unified = root / "sys/fs/cgroup" / ("" if version == 2 else "unified")
        self.memory = self.unified if version == 2 else root / "sys/fs/cgroup/memory"
        self._machine()
        self.write(self.unified / "cgroup.controllers", "cpu io memory pids" * (version == 2))
        self.write(root / "mountinfo", self._mountinfo())
        for folder in ("var/lib/kubelet/pods", "var/log/pods"):
            (root / folder).mkdir(parents=True)

    def places(self, cgroup: str = "", image_dir: str = "") -> Places:
        """Where an agent would look."""
        return Places(
            root=str(self.root),
            mountinfo=str(self.root / "mountinfo"),
            cgroup=cgroup,
            image_dir=image_dir,
            triggers=str(self.root / "proc/pressure"),
        )

    def write(self, path: Path | str, text: str | bytes) -> None:
        """A file, below the host's root where its path is not that of a file already."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def cgroup(
        self,
        path: str,
        *,
        usage: int = 100 * MIB,
        inactive: int = 30 * MIB,
        rss: int = 40 * MIB,
        limit: int | None = None,
        swap: int = 0,
        processes: int = 1,
        cpu: int = 5_000_000_000,
    ) -> Path:
        """A cgroup with memory; its folder."""
        made = self._v2 if self.version == 2 else self._v1
        made(path, usage, inactive, rss, limit, swap)
        folder = self.memory / path
        self.write(folder / "cgroup.procs", "".join(f"{1000 + n}\n" for n in range(processes)))
        if self.version == 2:
            self.write(folder / "cpu.stat", f"usage_usec {cpu // 1000}\nuser_usec 1\n")
            for resource in ("cpu", "memory", "io"):
                self.write(folder / f"{resource}.pressure", STALLS)
        else:
            self.write(f"sys/fs/cgroup/cpuacct/{path}/cpuacct.usage", f"{cpu}\n")
        return folder

    def pod(
        self, path: str, container: str = CONTAINER, *, processes: int = 1, **numbers: int
    ) -> Path:
        """A pod's cgroup with one of a container and one of a sandbox; its folder."""
        self.cgroup(path, processes=0, **numbers)
        self.cgroup(f"{path}/{container}", processes=processes, **numbers)
        self.cgroup(f"{path}/{SANDBOX}", usage=MIB, inactive=0, rss=0)
        return self.memory / path

    def root_cgroup(self, usage: int = 600 * MIB, inactive: int = 100 * MIB) -> None:
        """That of the whole node, which tells less with cgroup v2."""
        if self.version == 2:
            file, anonymous = usage - 200 * MIB, 200 * MIB
            stat = f"anon {anonymous}\nfile {file}\ninactive_file {inactive}\nactive_file 1\n"
            self.write(self.memory / "memory.stat", stat)
            self.write(self.memory / "cpu.stat", "usage_usec 1000000\n")
            self.write(self.memory / "memory.pressure", STALLS)
        else:
            self._v1("", usage, inactive, 200 * MIB, None, 0)

    def _v2(self, path: str, usage: int, inactive: int, rss: int, limit: int | None, swap: int):
        folder = self.memory / path
        stat = f"anon {rss}\nfile {usage - rss}\ninactive_anon 7\ninactive_file {inactive}\n"
        self.write(folder / "memory.stat", stat)
        self.write(folder / "memory.current", f"{usage}\n")
        self.write(folder / "memory.swap.current", f"{swap}\n")
        self.write(folder / "memory.max", "max\n" if limit is None else f"{limit}\n")
        self.write(folder / "memory.swap.max", "max\n")

    def _v1(self, path: str, usage: int, inactive: int, rss: int, limit: int | None, swap: int):
        folder = self.memory / path
        stat = f"inactive_file 3\nrss 4\ntotal_rss {rss}\ntotal_swap {swap}\n"
        self.write(folder / "memory.stat", f"{stat}total_inactive_file {inactive}\n")
        self.write(folder / "memory.usage_in_bytes", f"{usage}\n")
        most = 9223372036854771712 if limit is None else limit
        self.write(folder / "memory.limit_in_bytes", f"{most}\n")
        self.write(folder / "memory.memsw.limit_in_bytes", "9223372036854771712\n")
        self.write(folder / "memory.memsw.usage_in_bytes", f"{usage + swap}\n")

    def _machine(self) -> None:
        self.write("proc/meminfo", MEMINFO)
        self.write("proc/loadavg", "1.36 3.49 4.53 2/3518 3715089\n")
        self.write("proc/sys/kernel/pid_max", "32768\n")
        self.write("proc/sys/kernel/threads-max", "11633\n")
        for resource in ("cpu", "memory", "io"):
            self.write(f"proc/pressure/{resource}", STALLS)

    def _mountinfo(self) -> str:
        at = f"{self.root}/sys/fs/cgroup"
        lines = ["22 27 0:21 / /proc rw,relatime - proc proc rw"]
        if self.version == 1:
            lines += [
                f"3{n} 31 0:3{n} / {at}/{name} rw,relatime shared:9 - cgroup cgroup rw,{name}"
                for n, name in enumerate(("cpu", "cpuacct", "memory", "pids"))
            ]
        lines.append(f"41 31 0:38 / {self.unified} rw,relatime - cgroup2 cgroup2 rw")
        return "\n".join(lines) + "\n"


def full_host(root: Path, version: int = 2, path: str = CGROUPFS) -> Host:
    """A node with 1 GiB and one pod, whose cgroup has this path."""
    host = Host(root, version)
    host.root_cgroup()
    host.cgroup(path.partition("/")[0], usage=300 * MIB, inactive=50 * MIB, limit=900 * MIB)
    systemd = path.endswith(".slice")
    host.pod(path, f"cri-containerd-{CONTAINER}.scope" if systemd else CONTAINER)
    return host


def readings_of(host: Host, **settings: str) -> NodeReadings:
    """What is read of it."""
    return NodeReadings(host.places(**settings), "node")
