"""The example of docs/operate/pausing.md, executed on a demo that has its policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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

pytestmark = [pytest.mark.process]

GUIDE = ROOT / "docs" / "operate" / "pausing.md"
(STEPS,) = transcripts(GUIDE)
POLICY = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("pause")
    assert POLICY is not None
    (folder / "pause.yaml").write_text(POLICY[1])
    with settled_up(folder, "--policies", str(folder / "pause.yaml")) as started:
        yield started


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command.split("|")[0][:40])
def test_each_step_says_what_the_page_says(up: Up, step: Step, tmp_path: Path) -> None:
    skip_without_programs(STEPS)
    done = run(step, up, tmp_path)
    assert masked(done.stdout) == masked(step.output), (step.command, done.stderr)
