"""The protos: style, no breaking change, and generated code that matches."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import google.rpc  # type: ignore[import-untyped]  # it ships no types
import pytest

ROOT = Path(__file__).parents[3]
GENERATED = ROOT / "service" / "bailiff" / "v1"
PROGRAMS = Path(sys.executable).parent


def workspace(folder: Path) -> Path:
    """buf.yaml's second module, which the Makefile puts beside the first."""
    rpc = folder / ".venv" / "googleapis" / "google" / "rpc"
    rpc.mkdir(parents=True)
    shutil.copy(Path(next(iter(google.rpc.__path__))) / "status.proto", rpc)
    return folder


@pytest.fixture
def present(tmp_path: Path) -> Path:
    folder = workspace(tmp_path / "present")
    shutil.copytree(ROOT / "protos", folder / "protos")
    shutil.copy(ROOT / "buf.yaml", folder)
    return folder


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """The protos of the last commit."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git: nothing to compare with")
    archive = subprocess.run(
        ["git", "archive", "HEAD", "protos", "buf.yaml"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip(f"the last commit has no protos: {archive.stderr.decode()}")
    folder = workspace(tmp_path / "committed")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def buf(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAMS / "buf", *arguments], capture_output=True, text=True, check=False
    )


def test_style(present: Path) -> None:
    result = buf("lint", present)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_format(present: Path) -> None:
    result = buf("format", "--diff", "--exit-code", present / "protos")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_nothing_breaks_for_callers_of_the_last_commit(present: Path, committed: Path) -> None:
    result = buf("breaking", present, "--against", committed)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_a_breaking_change_would_be_noticed(present: Path, committed: Path) -> None:
    proto = present / "protos" / "bailiff" / "v1" / "kubernetes.proto"
    text = proto.read_text()
    proto.write_text(text.replace("string node_name = 10;", "string node_name = 11;"))
    result = buf("breaking", present, "--against", committed)
    assert result.returncode
    assert "node_name" in result.stdout


def test_generated_code_is_current(present: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    protos = sorted((present / "protos" / "bailiff" / "v1").glob("*.proto"))
    generate(present, ["--python_out", "--mypy_out"], protos, out)
    services = [proto for proto in protos if proto.stem.endswith("_service")]
    generate(present, ["--grpc_python_out", "--mypy_grpc_out"], services, out)
    fresh = {file.name: file.read_text() for file in (out / "bailiff" / "v1").iterdir()}
    committed = {
        file.name: file.read_text() for file in GENERATED.glob("*_pb2*.py*") if file.is_file()
    }
    assert fresh == committed, "run `make protos`"


def generate(present: Path, kinds: list[str], protos: list[Path], out: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            f"-I{present / 'protos'}",
            f"-I{present / '.venv' / 'googleapis'}",
            *(f"{kind}={out}" for kind in kinds),
            *map(str, protos),
        ],
        env={**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"},
        capture_output=True,
        check=True,
    )
