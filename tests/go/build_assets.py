"""Build the real programs that the contract tests talk to, once per machine.

``make test-assets`` runs this with a release of Kubernetes and prints one line: the folder to
export as ``KUBEBUILDER_ASSETS``. What is built, and from which versions, stands in the go.mod files
beside it; the assets' folder is named after their go.sum, so a new version gets a new folder, an
old one costs nothing, and those of several releases are there at once. Progress goes to stderr.

Exit codes: 0 built or already there, 1 a build failed, 2 no such release, 3 no Go on this machine.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
# A folder of each release that can be built is named by this and the release.
KUBERNETES = "kubernetes-"
KUBERNETES_PROGRAMS = (
    "kube-apiserver",
    "kubectl",
    "kube-controller-manager",
    "kube-scheduler",
)
# A test generates the rest of the Go caller's code and builds it. What it imports is compiled here,
# so that the test need not wait for that.
CALLER = "../../examples/go-caller"
CALLER_IMPORTS = (
    "google.golang.org/genproto/googleapis/rpc/errdetails",
    "google.golang.org/grpc",
    "k8s.io/api/core/v1",
)
GO_BUILD = ("go", "build", "-trimpath")
ENVIRONMENT = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}


class Source(NamedTuple):
    """Where a program comes from: the folder of its go.mod, its Go package, linker flags."""

    folder: str
    package: str
    flags: str = ""


def programs(release: str) -> dict[str, Source]:
    """All that is built for a release of Kubernetes, by name."""
    folder = KUBERNETES + release
    version = f"-X k8s.io/component-base/version.gitVersion=v{release}"
    return {
        "etcd": Source(folder, "go.etcd.io/etcd/server/v3"),
        **{
            name: Source(folder, f"k8s.io/kubernetes/cmd/{name}", version)
            for name in KUBERNETES_PROGRAMS
        },
        "protoc-gen-go": Source(CALLER, "google.golang.org/protobuf/cmd/protoc-gen-go"),
        "protoc-gen-go-grpc": Source(CALLER, "google.golang.org/grpc/cmd/protoc-gen-go-grpc"),
        "grpcurl": Source("tools", "github.com/fullstorydev/grpcurl/cmd/grpcurl"),
        "descheduler": Source("descheduler", "sigs.k8s.io/descheduler/cmd/descheduler"),
        "helm": Source("helm-tools", "helm.sh/helm/v4/cmd/helm"),
        "kubeconform": Source("helm-tools", "github.com/yannh/kubeconform/cmd/kubeconform"),
    }


def releases() -> list[str]:
    """Those that can be built."""
    return sorted(path.name.removeprefix(KUBERNETES) for path in HERE.glob(f"{KUBERNETES}*"))


def assets_dir(release: str) -> Path:
    """The folder for the present go.sum files, whether or not it has been built."""
    digest = hashlib.sha256()
    for folder in sorted({source.folder for source in programs(release).values()}):
        digest.update((HERE / folder / "go.sum").read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "bailiff" / "test-assets" / f"{KUBERNETES}{release}-{digest.hexdigest()[:16]}"


def build(program: str, source: Source, target: Path) -> None:
    """Build one program and put it in place in one step, so that a cut build leaves nothing."""
    print(f"building {program} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=target) as work:
        built = Path(work) / program
        command = [*GO_BUILD, "-ldflags", f"-s -w {source.flags}", "-o", str(built), source.package]
        run(command, source.folder)
        built.replace(target / program)


def run(command: list[str], folder: str) -> None:
    """Run Go on one of the modules here."""
    subprocess.run(command, cwd=HERE / folder, env=ENVIRONMENT, check=True)


def build_missing(release: str) -> int:
    """Build what is not there and print the folder; the exit code."""
    target = assets_dir(release)
    missing = {
        name: source for name, source in programs(release).items() if not (target / name).exists()
    }
    if missing and shutil.which("go") is None:
        print("no Go on this machine: tests that need these programs are skipped", file=sys.stderr)
        return 3
    target.mkdir(parents=True, exist_ok=True)
    try:
        for name, source in missing.items():
            build(name, source, target)
        if missing:
            run([*GO_BUILD, *CALLER_IMPORTS], CALLER)
    except subprocess.CalledProcessError as error:
        print(f"build failed: {error}", file=sys.stderr)
        return 1
    print(target)
    return 0


def main() -> int:
    """Read the one argument."""
    release = sys.argv[1].removeprefix("v") if len(sys.argv) == 2 else ""
    if release not in releases():
        known = " or ".join(releases())
        print(f"which Kubernetes? make test-assets KUBERNETES={known}", file=sys.stderr)
        return 2
    return build_missing(release)


if __name__ == "__main__":
    sys.exit(main())
