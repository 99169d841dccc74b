"""The protos serve the Go program of examples/go-caller, which this builds and runs."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.go import build_assets
from tests.harness.faces.grpc_face import running
from tests.harness.go_examples import EXAMPLES, built, unpacked
from tests.harness.transcripts import transcripts

GENERATING, (ASKING,) = transcripts(EXAMPLES / "go-caller" / "README.md")


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built from the protos as they are."""
    return built("go-caller", tmp_path_factory.mktemp("go"))


async def test_the_example_is_answered_as_it_tells(caller: Path) -> None:
    async with running() as face:
        process = await asyncio.create_subprocess_exec(
            caller, f"127.0.0.1:{face.port}", stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode() == ASKING.output


def test_without_an_address_it_tells_how_it_is_used(caller: Path) -> None:
    done = subprocess.run([caller], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: go run . HOST:PORT")


@pytest.mark.usefixtures("caller")  # what it skips for, this does, too
def test_its_commands_are_all_that_a_clone_lacks(tmp_path: Path) -> None:
    folder = unpacked(tmp_path) / "examples" / "go-caller"
    # So that what the test programs are built of is not compiled once more.
    env = build_assets.ENVIRONMENT | {"GOFLAGS": "-buildvcs=false -trimpath"}
    for command in (*(step.command for step in GENERATING), f"go build -o {tmp_path}/caller ."):
        subprocess.run(["bash", "-c", command], cwd=folder, env=env, check=True, timeout=300)
    assert (tmp_path / "caller").exists()
