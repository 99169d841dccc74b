"""The transcripts of the README and of the tour that goes on with it, executed; see `masked`."""

from __future__ import annotations

import pytest

from tests.harness.transcripts import (
    ROOT,
    masked,
    name_of,
    run,
    settled_up,
    skip_without_programs,
    transcripts,
)

pytestmark = [pytest.mark.process]


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """Of these alone: what they evict for good other guides ask about."""
    with settled_up(tmp_path_factory.mktemp("readme")) as started:
        yield started


STEPS = [*transcripts(ROOT / "README.md"), *transcripts(ROOT / "docs" / "tour.md")]


@pytest.mark.parametrize("steps", STEPS, ids=name_of)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert masked(done.stdout) == masked(step.output), (step.command, done.stdout, done.stderr)
