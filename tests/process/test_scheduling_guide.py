"""The guide to scheduling verdicts, executed."""

from __future__ import annotations

import pytest

from tests.harness.transcripts import ROOT, name_of, run, skip_without_programs, transcripts

PAGES = [ROOT / "docs" / "scheduling" / name for name in ("index.md", "stream.md")]
BLOCKS = [steps for page in PAGES for steps in transcripts(page)]


@pytest.mark.process
@pytest.mark.parametrize("steps", BLOCKS, ids=name_of)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert done.stdout == step.output, (step.command, done.stdout, done.stderr)
