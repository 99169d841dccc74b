"""One eviction's way, from the event to the Event, is the one that the documents draw.

The way is in docs/architecture/eviction.md, and so are the states of an entry on it.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import FrameType

import pytest

import bailiff
from bailiff.worker.timers import states
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.states import Move, State
from tests.harness.kinds import no_execute
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)

# Where it was imported from, which need not be beside this file: a mutated copy is tested, too.
PACKAGE = Path(bailiff.__file__).parent
PAGES = Path(__file__).parents[3] / "docs" / "architecture"
EVICTION = (PAGES / "eviction.md").read_text()
GUIDE = "\n".join(page.read_text() for page in sorted(PAGES.glob("*.md")))
# | 1 | an event comes in | `worker/mirror/watching.py` |
STEP = re.compile(r"^\| (\d+) \| .* \| `((?:worker|actions)/[a-z_/]+\.py)` \|$", re.MULTILINE)

(DIAGRAM,) = re.findall(
    r"^```mermaid\nstateDiagram-v2\n(.*?)^```$", EVICTION, re.MULTILINE | re.DOTALL
)
# WAITING --> HELD: HAND_OVER
ARROW = re.compile(r"^ *(\S+) --> (\S+): (.+)$", re.MULTILINE)
# | `HAND_OVER` | the gate | it is due, and there are policies |
MOVE = re.compile(r"^\| `([A-Z_]+)` \| ([a-z, ]+) \| .+ \|$", re.MULTILINE)


def is_handed_an_eviction(frame: FrameType) -> bool:
    """Whether an argument of the call is one; its own methods do nothing but answer."""
    code = frame.f_code
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = (frame.f_locals.get(name) for name in arguments if name != "self")
    return any(isinstance(one, Eviction) for one in found)


async def passed_by_an_eviction() -> tuple[set[str], set[str]]:
    """The modules that do anything between a taint and the deletion of a pod.

    And those of them that are handed the eviction.
    """
    package, seen, handed = f"{PACKAGE}/", set(), set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(package):
            seen.add(path.removeprefix(package))
            if is_handed_an_eviction(frame):
                handed.add(path.removeprefix(package))

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
    return seen, handed


async def test_an_eviction_is_handed_on_by_ten_modules_and_these_are_they():
    steps = {int(number): module for number, module in STEP.findall(EVICTION)}
    assert list(steps) == list(range(1, 11))
    seen, handed = await passed_by_an_eviction()
    assert set(steps.values()) <= seen
    # It is made in the fifth; before that there is a finding, and the requests are about the pod.
    handed_on = {steps[number] for number in (4, 5, 6, 7, 8, 10)}
    # What a system leaves to its base class does nothing.
    assert handed - {"worker/systems/system.py"} == handed_on


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(worker/[a-z_/]+\.py)`", GUIDE))))
def test_every_module_of_the_worker_that_is_named_is_there(module):
    assert (PACKAGE / module).is_file()


MOVES = {name: move for name, move in vars(states).items() if isinstance(move, Move)}


def drawn(state: State | None) -> str:
    """As Mermaid has it: an entry that is not there is the beginning and the end."""
    return "[*]" if state is None else state.name


def test_the_states_of_an_entry_and_its_moves_are_drawn():
    arrows = {
        (before, after, move)
        for before, after, moves in ARROW.findall(DIAGRAM)
        for move in moves.split(", ")
    }
    changes = {
        (drawn(before), drawn(after), name)
        for name, move in MOVES.items()
        for before, after in move.to.items()
        if before is not after
    }
    assert arrows == changes
    assert {state for before, after, _ in arrows for state in (before, after)} == {
        "[*]",
        *State.__members__,
    }


def test_every_move_is_explained_and_so_is_who_makes_it():
    told = dict(MOVE.findall(EVICTION))
    assert told == {name: ", ".join(who.value for who in move.by) for name, move in MOVES.items()}
    assert sorted(map(id, states.MOVES)) == sorted(map(id, MOVES.values()))
