"""The guides to admission webhooks, executed; and their tables against the code."""

from __future__ import annotations

import re

import pytest

from bailiff.cli.admission_options import OPTIONS
from bailiff.webhooks.metrics import Result
from tests.harness.admission import hooks
from tests.harness.transcripts import ROOT, name_of, run, skip_without_programs, transcripts

GUIDES = ROOT / "docs" / "webhooks"
TEXT = (GUIDES / "index.md").read_text()
BLOCKS = [
    steps
    for page in ("tolerations.md", "taint-changes.md")
    for steps in transcripts(GUIDES / page, "test_admission_guide.py")
]


@pytest.mark.process
@pytest.mark.parametrize("steps", BLOCKS, ids=name_of)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert done.stdout == step.output, (step.command, done.stdout, done.stderr)


def first_cells(heading: str) -> set[str]:
    """What the first column of the table under a heading names."""
    section = f"\n{TEXT}".split(f"\n{heading}\n", 1)[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]*) \|", section, re.MULTILINE)
    return {name for row in rows[1:] for name in re.findall(r"`([^`]+)`", row)}


def test_every_hook_is_named():
    assert first_cells("# Admission webhooks") == {hook.path for hook in hooks()}


def test_every_option_is_named():
    flags = {option.__metadata__[0].default for option in OPTIONS.values()}
    assert first_cells("## Serve the hooks") == flags


def test_every_result_is_named():
    assert first_cells("## See what the hooks do") == set(Result)
