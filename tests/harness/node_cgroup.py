"""A cgroup that stands for a node, with pods in it that take memory, on this machine.

Which version of cgroups is used is the machine's choice. It takes root.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 2**20
# Takes so many MiB a second and says when it has taken each; by time.monotonic, which is the same
# clock in all processes of a machine. MADV_POPULATE_WRITE spares page faults, of which user-mode
# Linux manages 20 MiB a second.
_TAKER = """
import mmap, os, sys, time
rate, most = float(sys.argv[1]), int(sys.argv[2])
sys.stdin.readline()
piece = 1 << 20
populate = 23
room = mmap.mmap(-1, most * piece, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
dirty = b"x" * piece
def take(at):
    try:
        room.madvise(populate, at, piece)
    except OSError:
        room[at:at + piece] = dirty
began = time.monotonic()
out = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for taken in range(most):
    take(taken * piece)
    os.write(out, b"%d %.6f\\n" % (taken + 1, time.monotonic()))
    wait = began + (taken + 1) / rate - time.monotonic()
    if wait > 0:
        time.sleep(wait)
time.sleep(3600)
"""


class TakingPod:
    """A pod's cgroup, with one process in it.

    Attributes:
        uid: of the pod.
        cgroups: its folders, of each controller.
    """

    def __init__(self, uid: str, cgroups: list[Path], said: Path) -> None:
        self.uid = uid
        self.cgroups = cgroups
        self._said = said
        self._process: subprocess.Popen[bytes] | None = None

    def load(self, rate: float, most: int) -> None:
        """Have a process ready that will take memory when it is told to.

        Args:
            rate: MiB a second.
            most: MiB in all.
        """
        command = [sys.executable, "-S", "-c", _TAKER, str(rate), str(most), str(self._said)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
        self.take_in(self._process.pid)

    def take_in(self, pid: int) -> None:
        """This process is the pod's from now on, and what it will take."""
        for cgroup in self.cgroups:
            (cgroup / "cgroup.procs").write_text(str(pid))

    def start(self) -> None:
        """Tell it to."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    @property
    def taken(self) -> list[tuple[int, float]]:
        """After how many MiB, and when."""
        if not self._said.exists():
            return []
        lines = self._said.read_text().splitlines()
        return [(int(a), float(b)) for a, b in (line.split() for line in lines if " " in line)]

    @property
    def killed(self) -> bool:
        """Whether its process has ended."""
        return self._process is not None and self._process.poll() is not None

    def kill(self) -> None:
        """End its processes and remove its cgroups, as a kubelet does where a pod is deleted."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
            self._process.communicate()
        for cgroup in self.cgroups:
            _remove(cgroup)


class NodeCgroup:
    """The node: a cgroup of its own with a limit of memory.

    Attributes:
        name: of the cgroup, below the mount points.
        memory: its folder of the memory controller.
        unified: it is of cgroup v2.
        limit: of its memory, in bytes.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        mounts = find_mounts(Places())
        self.unified = mounts.memory is None
        memory, pids = (mounts.unified,) * 2 if self.unified else (mounts.memory, mounts.pids)
        assert memory is not None
        self.name = f"bailiff-test-{secrets.token_hex(4)}"
        tops = dict.fromkeys(one for one in (memory, pids) if one is not None)
        self._tops = [Path(top) / self.name for top in tops]
        self.memory = Path(memory) / self.name
        self._folder = folder
        self.limit = limit
        self.pods: dict[str, TakingPod] = {}
        for top in self._tops:
            (top / "kubepods").mkdir(parents=True)
        if self.unified:
            self._delegate()
            (self.memory / "memory.max").write_text(str(limit))
        else:
            (self.memory / "memory.limit_in_bytes").write_text(str(limit))

    def _delegate(self) -> None:
        for folder in (self.memory.parent, self.memory, self.memory / "kubepods"):
            (folder / "cgroup.subtree_control").write_text("+memory +pids")

    def add(self, uid: str) -> TakingPod:
        """A pod without processes."""
        folders = [top / "kubepods" / f"pod{uid}" for top in self._tops]
        for folder in folders:
            folder.mkdir()
        said = self._folder / f"{uid}.said"
        pod = self.pods[uid] = TakingPod(uid, folders, said)
        return pod

    @property
    def options(self) -> tuple[str, ...]:
        """By which an agent takes it for its node."""
        return ("--cgroup", self.name)

    @property
    def room(self) -> int:
        """Bytes that pods may use until none are available."""
        return self.limit

    @property
    def files(self) -> tuple[str, str]:
        """Those that tell what is in use, and what of it is page cache."""
        return ("memory.current" if self.unified else "memory.usage_in_bytes"), "memory.stat"

    @property
    def usage(self) -> int:
        """Bytes in use."""
        return int((self.memory / self.files[0]).read_text())

    @property
    def oom_kills(self) -> int:
        """How many processes the kernel has killed in it."""
        if self.unified:
            return _field(self.memory / "memory.events", "oom_kill")
        tops = [self.memory, *self.memory.glob("kubepods"), *self.memory.glob("kubepods/pod*")]
        return sum(_field(top / "memory.oom_control", "oom_kill") for top in tops)

    def remove(self) -> None:
        """End everything in it."""
        for pod in self.pods.values():
            pod.kill()
        for top in self._tops:
            _remove(top / "kubepods")
            _remove(top)


@contextlib.contextmanager
def node_cgroup(folder: Path, limit: int) -> Iterator[NodeCgroup]:
    """One, removed in the end."""
    node = NodeCgroup(folder, limit)
    try:
        yield node
    finally:
        node.remove()


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _remove(cgroup: Path) -> None:
    """The kernel takes a moment to see that its last process is gone."""
    for _ in range(100):
        try:
            cgroup.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return
