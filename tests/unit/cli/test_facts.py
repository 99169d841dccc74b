"""Questions filled from what is told: a name means a field at the top, or one of a section."""

from __future__ import annotations

import pytest

from bailiff.cli.facts import filled
from bailiff.decisions import SYSTEMS, Systems
from bailiff.kinds import Node, Pod
from bailiff.kinds.meta import Value
from tests.harness.kinds import node_of, pod_of
from tests.harness.made_up_system import LightsOutSystem

NOW = "2026-01-02T00:00:30Z"
PODS = (pod_of("a"), pod_of("b"))


class Room(Value, frozen=True):
    """One pod's.

    Attributes:
        pod: its name.
    """

    pod: str = ""


class RoomFacts(Value, frozen=True, forbid_unknown_fields=True):
    """A section whose fields are called as those of questions are, and mean other things.

    Attributes:
        pods: the rooms.
        node: in words.
        options: as they are.
        others: all that there are.
    """

    pods: tuple[Room, ...] = ()
    node: str = ""
    options: str = ""
    others: tuple[Pod, ...] = ()


class RoomQuestion(Value, frozen=True):
    """Of pods and their rooms.

    Attributes:
        pods: who is asked about.
        node: theirs.
        rooms: the section.
    """

    pods: tuple[Pod, ...] = ()
    node: Node | None = None
    rooms: RoomFacts = RoomFacts()


class RoomSystem(LightsOutSystem):
    """Has a section; says what lights-out says, which looks at none."""

    name = "rooms"
    facts = RoomFacts  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("told", "of_sections", "wanted"),
    [
        ({}, {}, RoomQuestion(pods=PODS, rooms=RoomFacts(others=PODS))),
        (
            {"pods": PODS[:1], "node": node_of("n1")},
            {},
            RoomQuestion(pods=PODS[:1], node=node_of("n1"), rooms=RoomFacts(others=PODS)),
        ),
        (
            {},
            {"node": "n1", "pods": [{"pod": "a"}], "others": ()},
            RoomQuestion(pods=PODS, rooms=RoomFacts(node="n1", pods=(Room(pod="a"),))),
        ),
        ({}, {"halls": "n1"}, RoomQuestion(pods=PODS, rooms=RoomFacts(others=PODS))),
    ],
)
def test_what_is_told_goes_where_it_is_meant(told, of_sections, wanted):
    there = {Pod: PODS, Node: ()}.__getitem__
    assert filled(RoomQuestion, told, of_sections, (Pod, Node), there) == wanted


@pytest.mark.parametrize("more", ["", "---\nkind: Pod\nmetadata: {name: other}\n"])
def test_a_system_may_call_its_fields_as_it_likes(run, more):
    systems = Systems((*SYSTEMS.all, RoomSystem()))
    files = ("-f", "POD", "-f", "NODE", "-f", "-")
    told = run("explain", *files, "--now", NOW, stdin=more or "---", obj=systems)
    assert (told.exit_code, told.stderr) == (0, "")
    assert "EVICT_AT" in told.stdout
