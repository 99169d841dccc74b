"""A round is asked about pods that it was not made ready for, and has an answer for each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from bailiff.decisions import Options, Scene, Systems, Verdict
from tests.harness.asking import NOW
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.made_up_system import THREE_SYSTEMS, dark_node
from tests.harness.ranking_system import WITH_SEATS, SeatFacts, SeatSystem, seating_node

if TYPE_CHECKING:
    from bailiff.decisions import System
    from bailiff.kinds import Node, Pod

EVERYBODY = {system.name: system for system in (*THREE_SYSTEMS.all, *WITH_SEATS.all)}
NODES = {"node-taints": node_of("n1", no_execute()), "lights-out": dark_node("n1", NOW)}
KNOWN = tuple(pod_of(f"p{n}", "n1", uid=f"u{n}") for n in range(3))
STRANGERS = {
    "one that came later": pod_of("new", "n1", uid="u9"),
    "another of the same name": pod_of("p0", "n1", uid="u9"),
    "one that has ended": pod_of("p0", "n1", uid="u0", phase="Failed"),
    "one of another node": pod_of("p0", "n2", uid="u9"),
    "one without a UID": pod_of("p0", "n1"),
}


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("system", EVERYBODY.values(), ids=EVERYBODY)
def test_a_pod_that_was_never_seen_fails_no_round(system: System[Any], stranger: Pod) -> None:
    node = NODES.get(system.name, seating_node("n1", 1))
    scene = Scene(KNOWN, NOW, node, neighbours=())
    said = system.prepare(scene, system.facts(), Options()).of(stranger)
    assert said is None or said.system == system.name


def test_one_that_has_the_name_of_the_first_does_not_go_in_its_place() -> None:
    since = SeatFacts(crowded_since=NOW - timedelta(hours=1))
    said = SeatSystem().prepare(
        Scene(KNOWN, NOW, seating_node("n1", 1), neighbours=()), since, Options()
    )
    first = said.of(KNOWN[0])
    assert first is not None
    assert first.verdict is Verdict.EVICT_NOW
    other = said.of(STRANGERS["another of the same name"])
    assert other is None or other.verdict is Verdict.KEEP


def test_a_pod_that_has_ended_is_answered_where_systems_may_speak_of_it() -> None:
    ended = replace(KNOWN[0], status=STRANGERS["one that has ended"].status)
    node: Node = seating_node("n1", 1)
    question = Systems((SeatSystem(),)).questions["decideBatch"]
    facts = question.facts(pods=(ended, *KNOWN[1:]), node=node)  # type: ignore[call-arg]  # made at run time
    answer: Any = question.ask(facts, NOW, Options(evict_ended_pods=True))
    assert [one.verdict for one in answer.decisions] == [Verdict.KEEP] * 3
