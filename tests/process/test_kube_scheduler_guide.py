"""The guide to kube-scheduler, executed as far as the demo goes."""

from __future__ import annotations

import pytest

from tests.harness.transcripts import ROOT, name_of, run, skip_without_programs, transcripts

GUIDE = ROOT / "docs" / "scheduling" / "kube-scheduler.md"


@pytest.mark.process
@pytest.mark.parametrize("steps", transcripts(GUIDE), ids=name_of)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        told = done.stdout.splitlines()
        assert told == step.output.splitlines(), (step.command, done.stdout, done.stderr)
