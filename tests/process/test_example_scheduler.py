"""The README of examples/scheduler, executed as it stands."""

from __future__ import annotations

import os
import signal

import pytest

from tests.harness.kube.programs import free_port
from tests.harness.transcripts import ROOT, run, skip_without_programs, transcripts

(STEPS,) = transcripts(ROOT / "examples" / "scheduler" / "README.md")


@pytest.mark.process
def test_transcript(up, tmp_path):
    skip_without_programs(STEPS)
    port = str(free_port())
    # As a reader has it, who is in the folder of the source.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    try:
        for written in STEPS:
            step = written._replace(command=written.command.replace("8001", port))
            done = run(step, up, tmp_path)
            assert done.stdout == step.output, (step.command, done.stdout, done.stderr)
    finally:
        for pid in (tmp_path / "pids").read_text().split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
