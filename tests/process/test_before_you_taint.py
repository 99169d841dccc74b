"""docs/operate/before-you-taint.md, executed on the demo: it asks, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.transcripts import (
    ROOT,
    Step,
    Up,
    masked,
    name_of,
    run,
    skip_without_programs,
    transcripts,
)

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "operate" / "before-you-taint.md"


@pytest.mark.process
@pytest.mark.parametrize("steps", transcripts(GUIDE), ids=name_of)
def test_transcript(up: Up, steps: list[Step], tmp_path: Path) -> None:
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert masked(done.stdout) == masked(step.output), (step.command, done.stdout, done.stderr)
