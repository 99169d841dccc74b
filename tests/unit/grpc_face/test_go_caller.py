"""The protos serve the Go program of examples/go-caller, which this builds and runs."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import google.rpc  # type: ignore[import-untyped]  # it ships no types
import pytest

from tests.go import build_assets
from tests.harness.faces.grpc_face import running
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.transcripts import transcripts

ROOT = Path(__file__).parents[3]
PROTOS = ROOT / "protos"
SOURCE = ROOT / "examples" / "go-caller"
MODULE = "bailiff.dev/api"  # what go_package begins with


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built from the protos as they are."""
    if shutil.which("go") is None:
        pytest.skip("no Go on this machine")
    plugins = assets()
    if plugins is None:
        pytest.skip(WHY_NOT)
    if not (plugins / "protoc-gen-go-grpc").exists():
        pytest.skip("no protoc-gen-go-grpc: KUBEBUILDER_ASSETS is older than these tests")
    folder = shutil.copytree(SOURCE, tmp_path_factory.mktemp("go") / "caller")
    generate(folder / "api", plugins)
    program = folder / "caller"
    subprocess.run(
        [*build_assets.GO_BUILD, "-o", program, "."],
        cwd=folder,
        env=build_assets.ENVIRONMENT,
        check=True,
    )
    return program


def generate(folder: Path, plugins: Path) -> None:
    well_known = Path(next(iter(google.rpc.__path__))).parents[1]
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}", f"-I{well_known}"),
            *(f"--go_out={folder}", f"--go_opt=module={MODULE}"),
            *(f"--go-grpc_out={folder}", f"--go-grpc_opt=module={MODULE}"),
            *map(str, sorted((PROTOS / "bailiff" / "v1").glob("*.proto"))),
        ],
        env=os.environ | {"PATH": f"{plugins}{os.pathsep}{os.environ.get('PATH', '')}"},
        check=True,
    )


async def test_the_example_is_answered_as_it_tells(caller: Path) -> None:
    ((step,),) = transcripts(SOURCE / "README.md")
    async with running() as face:
        process = await asyncio.create_subprocess_exec(
            caller, f"127.0.0.1:{face.port}", stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode() == step.output
