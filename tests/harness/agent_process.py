"""A whole `bailiff agent` beside a real API server, on a cgroup that stands for its node."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE = 20.0


class AgentProcess:
    """One that runs.

    Attributes:
        pid: of the process.
        log: its file.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self.pid = process.pid
        self.log = log

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        """What it has logged, of this event."""
        found = []
        for line in self.log.read_text().splitlines():
            if line.startswith("{"):
                entry = json.loads(line)
                if not event or entry["event"] == event:
                    found.append(entry)
        return found

    def wait_for(self, event: str, count: int = 1) -> dict[str, Any]:
        """The entry of this event, once there are so many; AssertionError: they never came."""
        until = time.monotonic() + _PATIENCE
        while len(found := self.lines(event)) < count:
            assert time.monotonic() < until, (event, self.log.read_text()[-2000:])
            assert self._process.poll() is None, self.log.read_text()[-2000:]
            time.sleep(0.02)
        return found[count - 1]

    @property
    def url(self) -> str:
        """Of its status port."""
        return str(self.wait_for("agent starts")["status"])

    def get(self, path: str) -> Any:
        """A page of its status port; JSON where it is."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as answer:  # noqa: S310 - ours
            text = answer.read().decode()
        return json.loads(text) if path.startswith("/v1/") else text

    @property
    def resident(self) -> int:
        """KiB of memory."""
        return _of_status(self.pid, "VmRSS")

    @property
    def cpu_seconds(self) -> float:
        """That it has used."""
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()  # noqa: SIM115, PTH123
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def agent_process(
    folder: Path, *options: str, node: str = "node", thresholds: dict[str, Any] | None = None
) -> Iterator[AgentProcess]:
    """Started as an operator starts it, and ended by SIGTERM."""
    said = list(options)
    if thresholds is not None:
        config = folder / "kubelet.yaml"
        kind = {"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1"}
        config.write_text(yaml.safe_dump(kind | thresholds))
        said += ["--pressure-config", str(config)]
    command = [sys.executable, "-m", "bailiff", "agent", "--node", node, "--status-port", "0"]
    log = folder / "agent.log"
    environment = os.environ | {"BAILIFF_LOG_LEVEL": "debug", "BAILIFF_LOG_FORMAT": "json"}
    with log.open("wb") as out:
        process = subprocess.Popen([*command, *said], stderr=out, env=environment)
    try:
        agent = AgentProcess(process, log)
        agent.wait_for("agent starts")
        yield agent
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _of_status(pid: int, name: str) -> int:
    for line in open(f"/proc/{pid}/status"):  # noqa: SIM115, PTH123
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise AssertionError(name)
