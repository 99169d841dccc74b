"""Build the real Kubernetes programs that the contract tests talk to, once per machine.

``make test-assets`` runs this and prints one line: the folder to export as
``KUBEBUILDER_ASSETS``. What is built, and from which versions, stands in the go.mod files
beside it; the folder is named after their go.sum, so a new version gets a new folder and an
old one costs nothing. Progress goes to stderr.

Exit codes: 0 built or already there, 1 a build failed, 3 no Go on this machine.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KUBERNETES_VERSION = "v1.36.2"
VERSION_FLAG = f"-X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}"

# program -> (folder of its go.mod, Go package, linker flags)
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "etcd": ("kube", "go.etcd.io/etcd/server/v3", ""),
    "kube-apiserver": ("kube", "k8s.io/kubernetes/cmd/kube-apiserver", VERSION_FLAG),
    "kubectl": ("kube", "k8s.io/kubernetes/cmd/kubectl", VERSION_FLAG),
    "kube-controller-manager": (
        "kube",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        VERSION_FLAG,
    ),
    "grpcurl": ("tools", "github.com/fullstorydev/grpcurl/cmd/grpcurl", ""),
    "helm": ("helm-tools", "helm.sh/helm/v4/cmd/helm", ""),
    "kubeconform": ("helm-tools", "github.com/yannh/kubeconform/cmd/kubeconform", ""),
}


def assets_dir() -> Path:
    """The folder for the present go.sum files, whether or not it has been built."""
    digest = hashlib.sha256()
    for folder in sorted({folder for folder, _, _ in PROGRAMS.values()}):
        digest.update((HERE / folder / "go.sum").read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "bailiff" / "test-assets" / digest.hexdigest()[:16]


def build(program: str, target: Path) -> None:
    """Build one program and put it in place in one step, so that a cut build leaves nothing."""
    folder, package, flags = PROGRAMS[program]
    print(f"building {program} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=target) as work:
        built = Path(work) / program
        command = ["go", "build", "-trimpath", "-ldflags", f"-s -w {flags}", "-o", str(built)]
        environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
        subprocess.run([*command, package], cwd=HERE / folder, env=environment, check=True)
        built.replace(target / program)


def main() -> int:
    """Build what is missing and print the folder."""
    target = assets_dir()
    missing = [program for program in PROGRAMS if not (target / program).exists()]
    if missing and shutil.which("go") is None:
        print(
            "no Go on this machine: the real kube-apiserver tier will be skipped", file=sys.stderr
        )
        return 3
    target.mkdir(parents=True, exist_ok=True)
    try:
        for program in missing:
            build(program, target)
    except subprocess.CalledProcessError as error:
        print(f"build failed: {error}", file=sys.stderr)
        return 1
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
