"""One eviction's way, from the event to the Event, is the one that docs/architecture.md draws."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import FrameType

import pytest

from tests.harness.kinds import no_execute
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "architecture.md").read_text()
# | 1 | an event comes in | `worker/mirror/watching.py` |
STEP = re.compile(r"^\| (\d+) \| .* \| `(worker/[a-z_/]+\.py)` \|$", re.MULTILINE)


async def passed_by_an_eviction() -> set[str]:
    """The worker's modules that do anything between a taint and the deletion of a pod."""
    package, seen = f"{ROOT}/service/bailiff/", set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(package):
            seen.add(path.removeprefix(package))

    world = World()
    world.taint("n1")
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(1)
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            world.taint("n1", no_execute())
            await asyncio.sleep(1)
        finally:
            sys.setprofile(before)
        assert "pod" in world.deletions()
    return seen


async def test_an_eviction_is_handed_on_by_ten_modules_and_these_are_they():
    steps = STEP.findall(GUIDE)
    assert [int(number) for number, _ in steps] == list(range(1, 11))
    assert {module for _, module in steps} <= await passed_by_an_eviction()


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(worker/[a-z_/]+\.py)`", GUIDE))))
def test_every_module_of_the_worker_that_is_named_is_there(module):
    assert (ROOT / "service" / "bailiff" / module).is_file()
