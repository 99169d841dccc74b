"""The guide to the agent, tried as it says: on a cgroup of this machine, as root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness.transcripts import (
    ROOT,
    masked,
    run,
    settled_up,
    skip_without_programs,
    transcripts,
)

(STEPS,) = transcripts(ROOT / "docs" / "agent" / "index.md")


def may_make_cgroups() -> bool:
    return os.geteuid() == 0 and any(
        os.access(f"/sys/fs/cgroup/{one}", os.W_OK)
        for one in ("memory/cgroup.procs", "cgroup.subtree_control")
    )


@pytest.mark.process
@pytest.mark.skipif(not may_make_cgroups(), reason="it takes root and cgroups that can be written")
def test_an_agent_is_tried(tmp_path):
    skip_without_programs(STEPS)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with settled_up(tmp_path) as up:
        try:
            for step in STEPS:
                done = run(step, up, tmp_path)
                assert masked(done.stdout) == masked(step.output), (step.command, done)
        finally:
            if any(Path("/sys/fs/cgroup").glob("**/agent-try")):
                run(STEPS[-1], up, tmp_path)
