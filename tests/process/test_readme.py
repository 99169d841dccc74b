"""The README's transcripts, executed.

What differs from run to run (ages, generated names, instants, UIDs) is masked on both sides.
"""

from __future__ import annotations

import re

import pytest

from tests.harness.transcripts import (
    ROOT,
    name_of,
    run,
    settled_up,
    skip_without_programs,
    transcripts,
)

MASKS = [
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "INSTANT"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "UID"),
    (re.compile(r"\bweb-[0-9a-f]{8,10}-\w{5}\b"), "WEB"),
    (re.compile(r"\bagent-\w{5}\b"), "AGENT"),
    (re.compile(r"\b\d+s\b(?!,)"), "AGE"),
    (re.compile(r" +"), " "),
]

pytestmark = [pytest.mark.process]


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """Of these alone: what they evict for good other guides ask about."""
    with settled_up(tmp_path_factory.mktemp("readme")) as started:
        yield started


def masked(text):
    """Sorted, because pods of generated names stand in the order of their names."""
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return sorted(line.strip() for line in text.splitlines())


@pytest.mark.parametrize("steps", transcripts(ROOT / "README.md"), ids=name_of)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert masked(done.stdout) == masked(step.output), (step.command, done.stdout, done.stderr)
