"""The README's transcripts, executed: `bailiff up` as a stranger would start it, then its lines.

What differs from run to run (ages, generated names, instants, UIDs) is masked on both sides.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"<!-- transcript: .*? -->\n```console\n(.*?)```", re.DOTALL)
READY = "bailiff is ready"
MASKS = [
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "INSTANT"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "UID"),
    (re.compile(r"\bweb-[0-9a-f]{8,10}-\w{5}\b"), "WEB"),
    (re.compile(r"\bagent-\w{5}\b"), "AGENT"),
    (re.compile(r"\b\d+s\b(?!,)"), "AGE"),
    (re.compile(r" +"), " "),
]

pytestmark = [pytest.mark.process]


def masked(text):
    """Sorted, because pods of generated names stand in the order of their names."""
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return sorted(line.strip() for line in text.splitlines())


def transcripts():
    """(command, expected output) of each block."""
    for block in BLOCK.findall(README.read_text()):
        steps = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append([line[2:], ""])
            elif line.startswith("> ") and not steps[-1][1]:
                steps[-1][0] += "\n" + line[2:]
            else:
                steps[-1][1] += line + "\n"
        yield steps


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """`bailiff up` on free ports; gives its KUBECONFIG and the ports that stand for README's."""
    ports = {name: _free_port() for name in ("8080", "9090", "8081")}
    log = tmp_path_factory.mktemp("up") / "stderr"
    command = [
        *(sys.executable, "-m", "bailiff", "up", "--cluster-port", "0"),
        *("--rest-port", ports["8080"], "--grpc-port", ports["9090"]),
        *("--status-port", ports["8081"]),
    ]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        said = _read_until_ready(process, log)
        kubeconfig = re.search(r"^export KUBECONFIG=(.+)$", said, re.MULTILINE)
        assert kubeconfig is not None
        assert said.splitlines()[-1] == READY
        _settle(kubeconfig[1])
        yield kubeconfig[1], ports
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def _read_until_ready(process, log):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.strip() == READY:
            return "".join(lines)
    raise AssertionError(f"ended before it was ready: {log.read_text()[-2000:]}")


def _settle(kubeconfig):
    """Until the demo fleet runs: a person is slower than a test."""
    kubectl = _programs().get("kubectl")
    if kubectl is None:
        time.sleep(3)
        return
    wait = ["wait", "pod", "-n", "demo", "--all", "--for=condition=Ready", "--timeout=30s"]
    environment = os.environ | {"KUBECONFIG": kubeconfig}
    time.sleep(2)
    subprocess.run([kubectl, *wait], env=environment, check=True, capture_output=True)


def _programs():
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    path = os.pathsep.join([assets, os.environ["PATH"]])
    found = {name: shutil.which(name, path=path) for name in ("kubectl", "grpcurl", "curl")}
    return {name: where for name, where in found.items() if where}


@pytest.mark.parametrize("steps", list(transcripts()), ids=lambda steps: steps[0][0].split()[0])
def test_transcript(up, steps):
    kubeconfig, ports = up
    programs = _programs()
    needed = {name for command, _ in steps for name in ("kubectl", "grpcurl") if name in command}
    if missing := needed - programs.keys():
        pytest.skip(f"no {', '.join(sorted(missing))} on PATH or in KUBEBUILDER_ASSETS")
    folders = {str(Path(where).parent) for where in programs.values()}
    path = os.pathsep.join([*folders, os.environ["PATH"]])
    environment = os.environ | {"KUBECONFIG": kubeconfig, "PATH": path}
    for command, expected in steps:
        typed = re.sub(r":(8080|9090|8081)\b", lambda found: f":{ports[found[1]]}", command)
        done = subprocess.run(
            ["bash", "-c", typed],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert masked(done.stdout) == masked(expected), (command, done.stdout, done.stderr)
