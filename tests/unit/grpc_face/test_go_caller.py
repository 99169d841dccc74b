"""The protos serve a Go program, which hands over what Kubernetes' own types marshal to."""

from __future__ import annotations

import asyncio
import json
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

ROOT = Path(__file__).parents[3]
PROTOS = ROOT / "protos"
SOURCE = ROOT / "tests" / "go" / build_assets.CALLER
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


async def test_a_go_program_is_answered(caller: Path) -> None:
    async with running() as face:
        process = await asyncio.create_subprocess_exec(
            caller, f"127.0.0.1:{face.port}", stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 0
    *answer, reason = output.decode().splitlines()
    decision = json.loads("".join(answer))["decision"]
    assert decision["pod"] == {"namespace": "shop", "name": "web", "uid": "u-1"}
    assert decision["node"] == "node-1"
    assert decision["verdict"] == "VERDICT_EVICT_AT"
    assert decision["evictAt"] == "2026-01-01T00:05:00Z"
    assert reason == "bailiff.dev INVALID_FIELD"
