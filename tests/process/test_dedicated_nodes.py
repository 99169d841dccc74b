"""The guides to dedicated nodes and to GPU nodes, executed as one, in this order."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from tests.harness.kube.programs import free_port
from tests.harness.transcripts import ROOT, run, skip_without_programs, transcripts

PAGES = [ROOT / "docs" / "scheduling" / name for name in ("dedicated-nodes.md", "gpu-nodes.md")]
STEPS = [step for page in PAGES for steps in transcripts(page) for step in steps]


@pytest.mark.process
def test_the_guide(up, tmp_path):
    skip_without_programs(STEPS)
    port = str(free_port())
    try:
        for written in STEPS:
            step = written._replace(command=written.command.replace("8180", port))
            done = run(step, up, tmp_path)
            assert done.stdout == step.output, (step.command, done.stdout, done.stderr)
    finally:
        started = tmp_path / "pid"
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(started.read_text()) if started.exists() else 2**22, signal.SIGKILL)
