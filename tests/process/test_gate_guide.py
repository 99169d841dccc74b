"""The example of the gate in docs/webhooks/gate.md, executed on a demo that has its policies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.harness.transcripts import ROOT, Up, run, settled_up, skip_without_programs, transcripts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GUIDE = ROOT / "docs" / "webhooks" / "gate.md"
POLICIES = re.compile(r"<!-- policies: .*? -->\n```yaml\n(.*?)```", re.DOTALL)
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("gate")
    [policies] = POLICIES.findall(GUIDE.read_text())
    (folder / "gate.yaml").write_text(policies)
    with settled_up(folder, "--policies", str(folder / "gate.yaml")) as started:
        yield started


def test_the_third_eviction_is_refused(up: Up, tmp_path: Path) -> None:
    [[step]] = transcripts(GUIDE, "test_gate_guide.py")
    skip_without_programs([step])
    done = run(step, up, tmp_path)
    assert INSTANT.sub("", done.stdout) == INSTANT.sub("", step.output), done.stderr
