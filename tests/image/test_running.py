"""The image runs as the chart lets it run, and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from image import SITE
from tests.harness.containerd import Containerd, Network, network, until

pytestmark = [pytest.mark.image]

ROOT = Path(__file__).parents[2]
BODY = re.compile(r"curl -s 127\.0\.0\.1:8080(/v1/\S+) -H '([^']+)' -d '(.*?)'", re.DOTALL)
LOAD_ALL = """
import ctypes, pathlib, sys
found = list(pathlib.Path("/", sys.argv[1]).rglob("*.so"))
for path in found:
    ctypes.CDLL(str(path))
print(len(found))
"""
EVIL = "print('evil')\n"


def limit() -> int:
    """The chart's for the API, in bytes."""
    values = yaml.safe_load((ROOT / "helm" / "bailiff" / "values.yaml").read_text())
    told = values["api"]["resources"]["limits"]["memory"]
    return int(told.removesuffix("Mi")) * 2**20


class Served(NamedTuple):
    node: Containerd
    image: str
    net: Network
    entrypoint: tuple[str, ...]
    name: str
    pid: int

    def curl(self, path: str, *options: str) -> str:
        return self.net.run("curl", "-s", *options, f"127.0.0.1:8080{path}").stdout

    def code(self, path: str) -> str:
        return self.curl(path, "-o", "/dev/null", "-w", "%{http_code}")

    def ready(self) -> bool:
        """Whether it is; one that has ended never will be."""
        assert Path(f"/proc/{self.pid}/exe").exists(), self.node.log()
        return self.code("/readyz") == "200"

    def run(self, *program: str, options: tuple[str, ...] = ()):
        """A program in a container of its own, held in the same way."""
        return self.node.run(self.image, self.net, limit(), *program, options=options)

    def status(self) -> dict[str, str]:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


@pytest.fixture(scope="module")
def served(node: Containerd, archive: Path) -> Iterator[Served]:
    image = node.load(archive)
    with network() as net:
        entrypoint = node.entrypoint(image)
        name, pid = node.start(image, net, limit(), *entrypoint, "serve")
        one = Served(node, image, net, entrypoint, name, pid)
        until(one.ready)
        yield one


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_it_is_well(served: Served, path: str) -> None:
    assert served.code(path) == "200", served.node.log()


def test_it_decides_what_the_api_guide_asks(served: Served) -> None:
    guide = (ROOT / "docs" / "api" / "nodes-and-previews.md").read_text()
    asked = BODY.findall(re.sub(r"^> ", "", guide, flags=re.MULTILINE))
    [(path, header, body)] = [one for one in asked if "previews" in one[0]]
    answer = json.loads(served.curl(path, "-H", header, "-d", body))
    assert answer["summary"] == {"evictNow": 0, "evictAt": 1, "keep": 0}


def test_it_has_no_rights(served: Served) -> None:
    status = served.status()
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65532"}
    rights = {name: int(told, 16) for name, told in status.items() if name.startswith("Cap")}
    assert len(rights) == 5
    assert set(rights.values()) == {0}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"


def test_its_file_system_is_read_only_and_its_memory_limited(served: Served) -> None:
    mounts = Path(f"/proc/{served.pid}/mounts").read_text().splitlines()
    (root,) = (line.split() for line in mounts if line.split()[1] == "/")
    assert "ro" in root[3].split(",")
    assert memory_limit(served.pid) == limit()


def memory_limit(pid: int) -> int:
    """By version 1 of cgroups or version 2."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            return int(Path(f"/sys/fs/cgroup/memory{path}/memory.limit_in_bytes").read_text())
        if controllers == "" and Path(f"/sys/fs/cgroup{path}/memory.max").exists():
            return int(Path(f"/sys/fs/cgroup{path}/memory.max").read_text())
    raise AssertionError("no limit of memory")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("version",), 0, "bailiff"),
        (("worker", "--help"), 0, "--kubeconfig"),
        (("up",), 1, "not part of this installation"),
    ],
)
def test_commands(served: Served, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = served.run(*served.entrypoint, *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_every_wheel_finds_its_libraries(served: Served) -> None:
    done = served.run(*served.entrypoint[:2], "-c", LOAD_ALL, SITE)
    assert (done.returncode, int(done.stdout or 0) > 10) == (0, True), done.stderr


def test_settings_cannot_add_code(served: Served, tmp_path: Path) -> None:
    """A ConfigMap as environment and as files beside: Python's variables are not heeded."""
    for name in ("sitecustomize.py", "usercustomize.py", "typer.py"):
        (tmp_path / name).write_text(EVIL)
        (tmp_path / name).chmod(0o644)
    # pytest keeps it from others, and the container's user is one.
    tmp_path.chmod(0o755)
    options = (
        "--mount", f"type=bind,src={tmp_path},dst=/mnt,options=rbind:ro", "--cwd", "/mnt",
        "--env", "PYTHONPATH=/mnt", "--env", "PYTHONUSERBASE=/mnt",
    )  # fmt: skip
    program = (*served.entrypoint, "version")
    done = served.run(*program, options=options)
    assert (done.returncode, "evil" in done.stdout) == (0, False), done.stderr
    unguarded = served.run(*(word for word in program if word != "-I"), options=options)
    assert "evil" in unguarded.stdout


# The last of the file: nothing is served after it.
def test_it_ends_in_order(served: Served) -> None:
    assert served.node.stop(served.name) == "", served.node.log()
