"""A containerd of its own, as a node has one: it runs an image as the chart lets it run.

Everything is in one folder and ends with the test: processes, mounts, cgroups. Needs root, because
it mounts, makes namespaces and writes cgroups.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "runc")
# The best first. Copies are slow, but an overlay cannot lie on the overlay that a build machine's
# own root often is.
SNAPSHOTTERS = ("overlayfs", "native")
SOCKET = "containerd.sock"
# Without the kubelet's plugin, which wants a network of its own.
CONFIG = 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
# All that containerd grants by default, so none is left.
CAPABILITIES = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
    "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
# Brings loopback up in the network namespace it was started in, says so, and holds it open.
LOOPBACK = """
import fcntl, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS
print("up", flush=True)
sys.stdin.read()
"""
# Seconds for a broken build only.
_PATIENCE = 180.0


def missing() -> str:
    """Why images cannot be run here; empty if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "running an image needs Linux and root: mounts, namespaces, cgroups"
    lacking = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"not on this machine: {', '.join(lacking)}: see CONTRIBUTING.md" if lacking else ""


class Network(NamedTuple):
    """A network namespace that has loopback only, by the process that holds it."""

    pid: int

    @property
    def path(self) -> str:
        return f"/proc/{self.pid}/ns/net"

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A program of this machine in that network."""
        inside = ("nsenter", f"--net={self.path}", *command)
        return subprocess.run(
            inside, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """No port of this machine is taken, and no packet leaves it."""
    command = ("unshare", "--net", sys.executable, "-c", LOOPBACK)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"up\n"
        yield Network(holder.pid)
        holder.terminate()


class Containerd:
    """Imports images and runs them: read-only, without capabilities, within a memory limit."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder = folder
        self._root = root or folder / "root"
        self._address = str(folder / SOCKET)
        self._ids: list[str] = []
        self._snapshotter = ""
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the daemon that runs."""
        assert self._server is not None
        return self._server.pid

    def begin(self) -> None:
        """Start the daemon, and wait until it answers."""
        names = {"config": "config.toml", "state": "state", "address": SOCKET}
        places = {"root": self._root} | {key: Path(name) for key, name in names.items()}
        options = (f"--{option}={self.folder / place}" for option, place in places.items())
        with (self.folder / "containerd.log").open("ab") as log:
            self._server = subprocess.Popen(("containerd", *options), stdout=log, stderr=log)
        self.wait()

    def end(self) -> None:
        """Stop the daemon; containers go on."""
        assert self._server is not None
        self._server.send_signal(signal.SIGTERM)
        self._server.wait(_PATIENCE)

    def wait(self) -> None:
        """Until it answers; then it says how it can lay layers upon each other."""
        until(lambda: self.ctr("version", check=False).returncode == 0)
        rows = [line.split() for line in self.ctr("plugins", "list").stdout.splitlines()]
        works = {row[1] for row in rows if row[-1] == "ok"}
        self._snapshotter = next(name for name in SNAPSHOTTERS if name in works)

    def ctr(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ("ctr", "--address", self._address, *arguments)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        assert not check or done.returncode == 0, (arguments, done.stderr)
        return done

    def load(self, archive: Path) -> str:
        """The name of the archive's image."""
        base = ("--base-name", "bailiff", "--snapshotter", self._snapshotter)
        self.ctr("images", "import", *base, str(archive))
        (name,) = self.ctr("images", "list", "--quiet").stdout.split()
        return name

    def run(
        self, image: str, of: Network, memory: int, *program: str, options: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """A program of the image, to its end."""
        hold = (*self._hold(of, memory), *options)
        return self.ctr("run", "--rm", *hold, image, self._id(), *program, check=False)

    def start(self, image: str, of: Network, memory: int, *program: str) -> tuple[str, int]:
        """The same, in the background: the container and the process, by its id out here."""
        name, pid = self._id(), self.folder / "pid"
        log = f"file://{self.folder / 'log'}"
        told = ("--detach", "--log-uri", log, "--pid-file", str(pid))
        self.ctr("run", *told, *self._hold(of, memory), image, name, *program)
        return name, int(pid.read_text())

    def entrypoint(self, image: str) -> tuple[str, ...]:
        """The image's. To ctr a program is all of it; a kubelet puts the entrypoint before it."""
        digest = self.ctr("images", "list", f"name=={image}").stdout.splitlines()[1].split()[2]
        manifest = json.loads(self.ctr("content", "get", digest).stdout)
        config = json.loads(self.ctr("content", "get", manifest["config"]["digest"]).stdout)
        return tuple(config["config"]["Entrypoint"])

    def log(self) -> str:
        """What the container in the background has written."""
        return (self.folder / "log").read_text()

    def stop(self, name: str) -> str:
        """As a kubelet does: SIGTERM. What ctr says of an exit code that is not 0."""
        self.ctr("tasks", "kill", "--signal", "SIGTERM", name)
        until(lambda: "STOPPED" in self.ctr("tasks", "list").stdout)
        return self.ctr("tasks", "delete", name).stderr

    def remove_all(self) -> None:
        for name in self._ids:
            self.ctr("tasks", "delete", "--force", name, check=False)
            self.ctr("containers", "delete", name, check=False)

    def _id(self) -> str:
        self._ids.append(f"bailiff-{os.getpid()}-{len(self._ids)}")
        return self._ids[-1]

    def _hold(self, of: Network, memory: int) -> tuple[str, ...]:
        return (
            "--snapshotter", self._snapshotter, "--read-only", "--seccomp",
            "--memory-limit", str(memory), "--with-ns", f"network:{of.path}",
            "--cgroup", f"/bailiff-{os.getpid()}-{len(self._ids)}",
            *(word for name in CAPABILITIES for word in ("--cap-drop", f"CAP_{name}")),
        )  # fmt: skip


def until(true: Callable[[], bool]) -> None:
    """Wait for something to be so."""
    ends = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


def _place() -> str | None:
    """Memory, where there is enough: thousands of small files are written and soon removed."""
    shared = Path("/dev/shm")  # noqa: S108 - a folder of its own in it
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 2**31 else None


@contextlib.contextmanager
def containerd(config: str = CONFIG, root: Path | None = None) -> Iterator[Containerd]:
    """Runs until the block ends; then nothing is left of it.

    Args:
        config: its file's content.
        root: for images and layers; None: in its own folder.
    """
    # A short name: the addresses of sockets have 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="bailiff-ctr-", dir=_place()))
    own = Containerd(folder, root)
    (folder / "config.toml").write_text(config)
    own.begin()
    try:
        yield own
    finally:
        own.remove_all()
        own.end()
        _unmount(folder)
        shutil.rmtree(folder)


def _unmount(folder: Path) -> None:
    """Mounts that a broken test left, the innermost first."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    for target in sorted((line.split()[1] for line in lines), reverse=True):
        if target.startswith(f"{folder}/"):
            subprocess.run(("umount", target), check=True)
