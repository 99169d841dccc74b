"""Running the real programs: where they are, starting, stopping, and what they last said."""

from __future__ import annotations

import functools
import os
import re
import socket
import subprocess
from pathlib import Path

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
WHY_NOT = f"{ASSETS_VARIABLE} is not set: `make test-assets` builds the programs and prints it"
_TAIL_BYTES = 4000


def assets() -> Path | None:
    """The folder that holds etcd, kube-apiserver and the others, if we were told."""
    folder = os.environ.get(ASSETS_VARIABLE)
    return Path(folder) if folder else None


def _asset(name: str) -> str:
    folder = assets()
    if folder is None:
        raise RuntimeError(WHY_NOT)
    return str(folder / name)


@functools.cache
def kubernetes_version() -> tuple[int, int]:
    """Major and minor release of the kube-apiserver that was built."""
    command = [_asset("kube-apiserver"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.match(r"Kubernetes v(\d+)\.(\d+)\.", said)
    if found is None:
        raise RuntimeError(f"kube-apiserver --version says {said!r}")
    return int(found[1]), int(found[2])


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Program:
    """One process of ours, its output in a file.

    Args:
        name: which of the assets; also names the log.
        arguments: its command line.
        folder: where the log goes.
        executable: the file, where it is none of the assets.
    """

    def __init__(
        self, name: str, arguments: list[str], folder: Path, executable: str | None = None
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.log = folder / f"{name}.log"
        self._executable = executable
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it runs once at a time."""
        if self._process is not None:
            raise RuntimeError(f"{self.name} runs already")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._executable or _asset(self.name), *self.arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    @property
    def pid(self) -> int:
        """Its process id, while it runs."""
        if self._process is None:
            raise RuntimeError(f"{self.name} does not run")
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def exited(self) -> bool:
        """Whether it ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def stop(self, patience: float = 10.0) -> None:
        """End it and wait for that; killed if it takes more than `patience` seconds."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(patience)

    def kill(self) -> None:
        """End it without a chance to tidy up, as a power cut would."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(10.0)

    def tail(self) -> str:
        """The end of its log, for a failure's message."""
        if not self.log.exists():
            return f"--- {self.name}: no log"
        text = self.log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace")
        return f"--- end of {self.name}'s log\n{text}"
