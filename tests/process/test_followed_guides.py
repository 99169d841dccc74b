"""Guides that are executed as one: each part goes on where the last ended."""

from __future__ import annotations

import pytest

from tests.harness.transcripts import (
    ROOT,
    masked,
    run,
    settled_up,
    skip_without_programs,
    transcripts,
)

DOCS = ROOT / "docs"


@pytest.mark.process
@pytest.mark.parametrize("guide", ["pressure", "node-loss"])
def test_the_guide(tmp_path, guide):
    steps = [step for part in transcripts(DOCS / guide / "index.md") for step in part]
    assert steps
    skip_without_programs(steps)
    with settled_up(tmp_path) as up:
        for step in steps:
            done = run(step, up, tmp_path)
            assert masked(done.stdout) == masked(step.output), (
                step.command,
                done.stdout,
                done.stderr,
            )
