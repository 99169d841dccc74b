"""The guide to lost nodes, executed as one: each part goes on where the last ended."""

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

STEPS = [step for steps in transcripts(ROOT / "docs" / "node-loss" / "index.md") for step in steps]


@pytest.mark.process
def test_the_guide(tmp_path):
    skip_without_programs(STEPS)
    with settled_up(tmp_path) as up:
        for step in STEPS:
            done = run(step, up, tmp_path)
            assert masked(done.stdout) == masked(step.output), (
                step.command,
                done.stdout,
                done.stderr,
            )
