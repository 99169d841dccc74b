"""Transcripts in Markdown, and `bailiff up` as a stranger would start it to run them.

A transcript is a console block under `<!-- transcript: executed by PATH -->`: `$ ` begins a
command, `> ` goes on with it, and what follows is what it prints. The ports written in it are those
of the defaults; free ones stand for them when it runs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import yaml

from tests.harness.kube.plain_http import call

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
READY = "bailiff is ready"
# Seconds for the demo fleet to run.
_PATIENCE = 30.0
BLOCK = re.compile(r"<!-- transcript: (.*?) -->\n```console\n(.*?)```", re.DOTALL)
# Of the default addresses: REST, gRPC, the worker's status.
PORTS = ("8080", "9090", "8081")


_MASKS = [
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "INSTANT"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "UID"),
    (re.compile(r"\bweb-[0-9a-f]{8,10}-\w{5}\b"), "WEB"),
    (re.compile(r"\bagent-\w{5}\b"), "AGENT"),
    (re.compile(r"\b\d+s\b(?!,)"), "AGE"),
    (re.compile(r"(?<=available: )\d+Ki\b"), "AMOUNT"),
    (re.compile(r" +"), " "),
]


class Step(NamedTuple):
    """A command and what it prints."""

    command: str
    output: str


class Up(NamedTuple):
    """A running `bailiff up`; `ports` are by the ports that transcripts show."""

    kubeconfig: str
    ports: dict[str, str]
    pid: int


def transcripts(guide: Path, program: str = "") -> list[list[Step]]:
    """The steps of each block, or of those that a program executes."""
    found = BLOCK.findall(guide.read_text())
    return [_steps(block) for by, block in found if by.endswith(program)]


def name_of(steps: list[Step]) -> str:
    """A test's id: the program that comes first."""
    return steps[0].command.split()[0]


def masked(text: str) -> list[str]:
    """What a program printed, without what differs from run to run: ages, names, instants, UIDs.

    Sorted, because pods of generated names stand in the order of their names.
    """
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return sorted(line.strip() for line in text.splitlines())


def _steps(block: str) -> list[Step]:
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], ""))
            continue
        command, output = steps.pop()
        # An empty line of a program has no blank after its mark.
        if f"{line} ".startswith("> ") and not output:
            steps.append(Step(f"{command}\n{line[2:]}", ""))
        else:
            steps.append(Step(command, f"{output}{line}\n"))
    return steps


@contextlib.contextmanager
def running_up(folder: Path, *options: str) -> Iterator[Up]:
    """`bailiff up` on free ports; its log and its kubeconfig go to the folder."""
    ports = dict(zip(PORTS, _free_ports(len(PORTS)), strict=True))
    log = folder / "stderr"
    rest, grpc, status = ports.values()
    command = [
        *(sys.executable, "-m", "bailiff", "up", "--cluster-port", "0"),
        *("--rest-port", rest, "--grpc-port", grpc, "--status-port", status),
        *("--write-kubeconfig", str(folder / "kubeconfig"), *options),
    ]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        said = _read_until_ready(process, log)
        kubeconfig = re.search(r"^export KUBECONFIG=(.+)$", said, re.MULTILINE)
        assert kubeconfig is not None
        yield Up(kubeconfig[1], ports, process.pid)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=30)
        assert code == 0, f"ended with {code}"
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextlib.contextmanager
def settled_up(folder: Path, *options: str) -> Iterator[Up]:
    """The same, given out when the demo fleet runs: a person is slower than a test."""
    with running_up(folder, *options) as started:
        _settle(started.kubeconfig)
        yield started


def _free_ports(count: int) -> list[str]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for taken in sockets:
            taken.bind(("127.0.0.1", 0))
        return [str(taken.getsockname()[1]) for taken in sockets]


def _read_until_ready(process: subprocess.Popen[str], log: Path) -> str:
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if line.strip() == READY:
            return "".join(lines)
    raise AssertionError(f"ended before it was ready: {log.read_text()[-2000:]}")


def _settle(kubeconfig: str) -> None:
    demo, deadline = _Demo.of(kubeconfig), time.monotonic() + _PATIENCE
    while not all(_runs(demo, kind) for kind in ("deployments", "daemonsets", "statefulsets")):
        assert time.monotonic() < deadline, "the demo fleet does not run"
        time.sleep(0.1)


class _Demo(NamedTuple):
    """A demo cluster, as its kubeconfig tells of it."""

    port: int
    token: str
    authority: str

    @classmethod
    def of(cls, kubeconfig: str) -> _Demo:
        config = yaml.safe_load(Path(kubeconfig).read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        port = urlsplit(cluster["server"]).port
        assert port is not None
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        return cls(port, user["token"], authority)

    def get(self, path: str) -> tuple[int, bytes]:
        with tempfile.NamedTemporaryFile("w", suffix=".crt") as file:
            file.write(self.authority)
            file.flush()
            bearer = {"Authorization": f"Bearer {self.token}"}
            return call(self.port, path, headers=bearer, ca=Path(file.name))


def _runs(demo: _Demo, kind: str) -> bool:
    """Whether there are such workloads, and all their pods are ready."""
    status, body = demo.get(f"/apis/apps/v1/namespaces/demo/{kind}")
    assert status == 200, body
    workloads = json.loads(body)["items"]
    return bool(workloads) and all(_ready(one["spec"], one["status"]) for one in workloads)


def _ready(spec: dict[str, Any], status: dict[str, Any]) -> bool:
    if "replicas" in spec:
        return bool(status.get("readyReplicas") == spec["replicas"])
    wanted = status.get("desiredNumberScheduled")
    return bool(wanted) and wanted == status.get("numberReady")


def _programs() -> dict[str, str]:
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    path = os.pathsep.join([assets, os.environ["PATH"]])
    found = {name: shutil.which(name, path=path) for name in ("kubectl", "grpcurl", "curl")}
    return {name: where for name, where in found.items() if where}


def skip_without_programs(steps: list[Step]) -> None:
    """Skip the test where a program of its transcript is missing."""
    needed = {
        name for step in steps for name in ("kubectl", "grpcurl", "curl") if name in step.command
    }
    if missing := needed - _programs().keys():
        pytest.skip(f"no {', '.join(sorted(missing))} on PATH or in KUBEBUILDER_ASSETS")


def run(step: Step, up: Up, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a person would see who types the command; `folder` is where they are."""
    folders = {str(Path(where).parent) for where in _programs().values()}
    # First, as after `. .venv/bin/activate`.
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join([own, *sorted(folders), os.environ["PATH"]])
    return subprocess.run(
        [
            "bash",
            "-c",
            re.sub(r":(8080|9090|8081)\b", lambda m: f":{up.ports[m[1]]}", step.command),
        ],
        env=os.environ | {"KUBECONFIG": up.kubeconfig, "PATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
