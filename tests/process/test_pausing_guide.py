"""The pause in docs/operate/pausing.md, executed on a demo that has its policies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.harness.transcripts import (
    ROOT,
    Step,
    Up,
    masked,
    run,
    settled_up,
    skip_without_programs,
    transcripts,
)

if TYPE_CHECKING:
    from pathlib import Path

BEFORE, AFTER = transcripts(ROOT / "docs" / "operate" / "pausing.md", "test_pausing_guide.py")
# Seconds that a person takes from one command to the next, at most.
_PATIENCE = 15.0

pytestmark = pytest.mark.process


def test_a_pause_holds_evictions_until_somebody_resumes(tmp_path: Path) -> None:
    skip_without_programs([*BEFORE, *AFTER])
    nowhere = Up("", dict.fromkeys(("8080", "9090", "8081"), "0"), 0)
    for step in BEFORE:
        said(step, nowhere, tmp_path)
    with settled_up(tmp_path, "--policies", str(tmp_path / "pause.yaml")) as up:
        for step in AFTER:
            said(step, up, tmp_path)


def said(step: Step, up: Up, folder: Path) -> None:
    """Run it until it says what the guide says: a worker looks a moment later."""
    until = time.monotonic() + _PATIENCE
    while True:
        done = run(step, up, folder)
        told = done.stdout + done.stderr
        if masked(told) == masked(step.output):
            return
        assert step.command.startswith("curl "), (step.command, told)
        assert time.monotonic() < until, (step.command, told)
        time.sleep(0.2)
