"""The examples in Go, built from the protos as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import google.rpc  # type: ignore[import-untyped]  # it ships no types
import pytest

from tests.go import build_assets
from tests.harness.kube.programs import WHY_NOT, assets

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
_PROTOS = ROOT / "protos"
# Without vet, which looks at all of Kubernetes.
_GO_TEST = ("go", "test", "-trimpath", "-vet=off", "-ldflags", "-s -w")
_MODULE = "bailiff.dev/api"  # what go_package begins with


def built(example: str, folder: Path) -> Path:
    """The program of an example; the test is skipped where it cannot be built.

    Args:
        example: its folder in `examples`; the program is called so, too.
        folder: where its sources, with the generated code, and the program go.
    """
    source = shutil.copytree(EXAMPLES / example, folder / example)
    _generate(source / "api", _plugins())
    program = source / example
    command = [*build_assets.GO_BUILD, "-ldflags", "-s -w", "-o", str(program), "."]
    subprocess.run(command, cwd=source, env=build_assets.ENVIRONMENT, check=True)
    return program


def unpacked(folder: Path) -> Path:
    """What a clone has of the examples, with the environment that `make` has made for this one."""
    if not (ROOT / ".venv" / ".dev").exists():
        pytest.skip("no .venv of `make setup-dev`")
    for name in ("Makefile", "pyproject.toml", "requirements", "protos", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    generated = shutil.ignore_patterns("v1", "bin")
    shutil.copytree(EXAMPLES, folder / "examples", ignore=generated)
    return folder


def passes(source: Path) -> None:
    """Run the tests that an example has in Go, in the folder where it was built."""
    command = [*_GO_TEST, "./..."]
    subprocess.run(command, cwd=source, env=build_assets.ENVIRONMENT, check=True)


def _plugins() -> Path:
    if shutil.which("go") is None:
        pytest.skip("no Go on this machine")
    plugins = assets()
    if plugins is None:
        pytest.skip(WHY_NOT)
    if not (plugins / "protoc-gen-go-grpc").exists():
        pytest.skip("no protoc-gen-go-grpc: KUBEBUILDER_ASSETS is older than these tests")
    return plugins


def _generate(folder: Path, plugins: Path) -> None:
    well_known = Path(next(iter(google.rpc.__path__))).parents[1]
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{_PROTOS}", f"-I{well_known}"),
            *(f"--go_out={folder}", f"--go_opt=module={_MODULE}"),
            *(f"--go-grpc_out={folder}", f"--go-grpc_opt=module={_MODULE}"),
            *map(str, sorted((_PROTOS / "bailiff" / "v1").glob("*.proto"))),
        ],
        env=os.environ | {"PATH": f"{plugins}{os.pathsep}{os.environ.get('PATH', '')}"},
        check=True,
    )
