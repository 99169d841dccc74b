"""Boots a node with a real kubelet, lets it evict, and keeps what was recorded.

    make real-node SCENE=memory

It takes Linux on x86-64, root, Debian's apt-get and mkfs.ext4, the programs of `make test-assets`,
and Go to build the kubelet, 7 minutes the first time; a run takes five, `garbage` ten to fifteen. A
kernel that runs as a process (Debian's user-mode-linux) is the machine: it needs no virtualization,
sees the host's files read-only, and has no network but its own loopback. What it prints as RECORD
goes to tests/cases/real_node, which tests read.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.real_node.images import archive_of, garbage, image_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = ROOT / "tests" / "cases" / "real_node"
PACKAGES = ("user-mode-linux", "containerd", "runc", "libseccomp2", "kmod", "libkmod2")
IMAGE = "docker.io/local/filler:1"
# Of those that are for documentation (RFC 5737).
ADDRESS = "192.0.2.1"
_DISK = 4 * 2**30
_MEMORY = "1500M"
# Seconds for a whole run; one takes about 300, `garbage` 900.
_PATIENCE = 1500
_GO = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
_VERSION = "-X k8s.io/component-base/version.gitVersion=v1.37.1"

# What this kernel says of its processor is not what the kubelet looks for.
_CPUINFO = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: user-mode
cpu MHz\t\t: 2000.000
physical id\t: 0
core id\t\t: 0
cpu cores\t: 1

"""
_CONTAINERD = """\
version = 2
root = "/mnt/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{image}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    conf_dir = "/mnt/network"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{runc}"
"""


def main() -> int:
    """Run one scene; the exit code is 0 where it was recorded whole."""
    parser = argparse.ArgumentParser(description=__doc__, prog="make real-node")
    parser.add_argument("scene", choices=sorted(path.stem for path in HERE.glob("scenes/*.sh")))
    parser.add_argument("--keep", type=Path, help="a folder to work in, for the next run too")
    asked = parser.parse_args()
    programs = os.environ.get("KUBEBUILDER_ASSETS")
    if not programs:
        sys.exit("KUBEBUILDER_ASSETS is not set: see `make test-assets`")
    with tempfile.TemporaryDirectory(prefix="bailiff-node-") as folder:
        work = asked.keep or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        prepare(work.resolve(), Path(programs), HERE / "scenes" / f"{asked.scene}.sh")
        recorded = boot(work.resolve())
    # Some scenes print what they have measured, and record nothing but their end.
    if len(recorded) > 1:
        keep(asked.scene, recorded)
    return 0 if recorded and recorded[-1]["kind"] == "end" else 1


def prepare(work: Path, programs: Path, scene: Path) -> None:
    """Everything that the node needs, in one folder."""
    if not (work / "debian").exists():
        unpack(work / "debian")
    runtime = work / "debian" / "usr" / "bin"
    if scene.with_suffix(".yaml").exists():
        runtime = prepare_kubelet(work, scene)
    (work / "cpuinfo").write_text(_CPUINFO)
    (work / "kubeconfig").write_text(json.dumps(kubeconfig()))
    with (work / "disk").open("wb") as disk:
        disk.truncate(_DISK)
    subprocess.run(["mkfs.ext4", "-q", "-F", work / "disk"], check=True)
    settings = {
        "WORK": work, "PROGRAMS": programs, "KUBELET": work / "kubelet", "SCENE": scene,
        "ADDRESS": ADDRESS, "IMAGE": IMAGE, "BAILIFF": f"{sys.executable} -m bailiff",
        "PYTHONPATH": ROOT / "service", "RUNTIME": runtime,
    }  # fmt: skip
    lines = (f"export {name}='{value}'\n" for name, value in settings.items())
    (work / "settings").write_text("".join(lines))
    first = work / "first"
    first.write_text(f"#!/bin/sh\nexec /bin/bash {HERE / 'node.sh'} {work}\n")
    first.chmod(0o755)


def prepare_kubelet(work: Path, scene: Path) -> Path:
    """A kubelet, an image, and a runtime; returns the folder of that."""
    go_build(ROOT / "tests" / "go" / "kubelet", "k8s.io/kubernetes/cmd/kubelet", work / "kubelet")
    go_build(HERE / "filler", "main.go", work / "filler")
    program = (work / "filler").read_bytes()
    (work / "image.tar").write_bytes(archive_of([image_of(IMAGE, program)]))
    (work / "kubelet.yaml").write_bytes(scene.with_suffix(".yaml").read_bytes())
    runc = work / "debian" / "usr" / "sbin" / "runc"
    (work / "containerd.toml").write_text(_CONTAINERD.format(image=IMAGE, runc=runc))
    if scene.stem == "garbage":
        return prepare_garbage(work, program)
    return work / "debian" / "usr" / "bin"


def prepare_garbage(work: Path, program: bytes) -> Path:
    """Images, who lists them, and a runtime that pins and mounts them, as Debian's does not.

    Returns:
        The folder of that runtime.
    """
    go, runtime = ROOT / "tests" / "go", work / "runtime"
    for name in ("containerd", "containerd-shim-runc-v2"):
        package = f"github.com/containerd/containerd/v2/cmd/{name}"
        go_build(go / "containerd", package, runtime / name, "no_btrfs,no_devmapper,no_zfs")
    go_build(go / "kubelet", str(HERE / "cri" / "main.go"), work / "cri")
    for batch, images in garbage(program).items():
        (work / f"{batch}.tar").write_bytes(archive_of(images))
    return runtime


def unpack(target: Path) -> None:
    """Debian's packages, without installing them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=folder, check=True)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, target], check=True)


def go_build(folder: Path, package: str, target: Path, tags: str = "") -> None:
    """One program, unless it is there."""
    if target.exists():
        return
    print(f"building {target.name} ...", file=sys.stderr, flush=True)
    flags = ("-trimpath", "-tags", tags, "-ldflags", f"-s -w {_VERSION}")
    command = ["go", "build", *flags, "-o", str(target), package]
    subprocess.run(command, cwd=folder, env=os.environ | _GO, check=True)


def kubeconfig() -> dict[str, Any]:
    """Of the administrator, within the node."""
    server = {"server": "https://127.0.0.1:6443", "insecure-skip-tls-verify": True}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "node", "cluster": server}],
        "users": [{"name": "admin", "user": {"token": "token"}}],
        "contexts": [{"name": "node", "context": {"cluster": "node", "user": "admin"}}],
        "current-context": "node",
    }


def boot(work: Path) -> list[dict[str, Any]]:
    """Run the node to its end; what it has recorded, in order."""
    kernel = shutil.which("linux.uml", path=f"{work}/debian/usr/bin")
    if kernel is None:
        sys.exit("Debian's user-mode-linux has no linux.uml")
    command = [
        *(kernel, f"mem={_MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
        *(f"init={work}/first", f"ubda={work}/disk", "con=null", "con0=null,fd:1", "ssl=null"),
        "quiet",
    ]
    recorded = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=work, text=True, env=os.environ | preloaded(work)
    ) as node:
        assert node.stdout is not None
        for line in node.stdout:
            if line.startswith("RECORD "):
                recorded += read(line)
            else:
                print(line, end="", flush=True)
        node.wait(_PATIENCE)
    return recorded


def preloaded(work: Path) -> dict[str, str]:
    """What the kernel needs on a processor that has more registers than it was built for."""
    if "amx_tile" not in Path("/proc/cpuinfo").read_text().split():
        return {}
    library = work / "whole_registers.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), "whole_registers.c"]
    subprocess.run(command, cwd=HERE, check=True)
    return {"LD_PRELOAD": str(library)}


def read(line: str) -> list[dict[str, Any]]:
    """The records of a line: what kind, and the JSON or text that was recorded."""
    _, kind, packed = line.split()
    text = gzip.decompress(base64.b64decode(packed)).decode()
    if kind == "summaries":
        return [{"kind": "summary", "value": one} for one in distinct(text)]
    try:
        return [{"kind": kind, "value": json.loads(text)}]
    except ValueError:
        return [{"kind": kind, "value": text}]


def distinct(text: str) -> list[Any]:
    """Summaries one after the other, each once; the last may have been cut off."""
    found: list[Any] = []
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            one, end = decoder.raw_decode(text, at)
        except ValueError:
            break
        at = end + len(text[end:]) - len(text[end:].lstrip())
        if not found or measured(found[-1]) != measured(one):
            found.append(one)
    return found


def measured(summary: dict[str, Any]) -> Any:
    """What eviction goes by; the kubelet has its pods in another order each time."""
    of_pods = [
        (one["podRef"]["name"], *(one.get(part) for part in ("memory", "ephemeral-storage")))
        for one in sorted(summary["pods"], key=lambda one: one["podRef"]["name"])
    ]
    node = summary["node"]
    left = node.get("fs", {}).get("availableBytes")
    return node.get("memory", {}).get("time"), left, of_pods


def keep(scene: str, recorded: list[dict[str, Any]]) -> None:
    """For tests, a line each."""
    CASES.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(one) + "\n" for one in recorded)
    # Without a time, so that the same recording is the same file.
    (CASES / f"{scene}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    print(f"{len(recorded)} records kept", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
