"""The protos serve the Go program of examples/go-caller, which this builds and runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.harness.faces.grpc_face import running
from tests.harness.go_examples import EXAMPLES, built
from tests.harness.transcripts import transcripts


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built from the protos as they are."""
    return built("go-caller", tmp_path_factory.mktemp("go"))


async def test_the_example_is_answered_as_it_tells(caller: Path) -> None:
    ((step,),) = transcripts(EXAMPLES / "go-caller" / "README.md")
    async with running() as face:
        process = await asyncio.create_subprocess_exec(
            caller, f"127.0.0.1:{face.port}", stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode() == step.output
