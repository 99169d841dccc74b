"""A system that weighs pods against each other, over gRPC."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.harness.corpus import answer_of_core
from tests.harness.faces.grpc_face import ask, without_zeros
from tests.harness.kinds import pod_of
from tests.harness.ranking_system import NAME, WITH_SEATS, seating_node

PODS = tuple(pod_of(f"p{n}", "n", priority=n) for n in range(3))
ABOUT = {"node": seating_node("n", 2), "options": {"explain": True}}
STATE = {"crowdedSince": "2025-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("question", "pods"),
    [
        ("decideBatch", {"pods": PODS}),
        ("decide", {"pod": PODS[0], "neighbours": {"pods": PODS[1:]}}),
    ],
)
async def test_what_it_says_is_what_the_core_says(question: str, pods: dict[str, Any]) -> None:
    body = msgspec.to_builtins({**ABOUT, **pods})
    answer = await ask(question, body | {"others": {NAME: STATE}}, systems=WITH_SEATS)
    expected = answer_of_core(WITH_SEATS.questions[question], body | {NAME: STATE})
    assert without_zeros(answer) == without_zeros(expected)
    first = answer.get("decision") or answer["decisions"][0]
    assert (first["decidedBy"], first["eviction"]["statusMessage"]) == (NAME, "3 pods for 2 seats")


async def test_a_pod_that_is_alone_on_its_node_is_weighed() -> None:
    about = msgspec.to_builtins({"node": seating_node("n", 0), "pod": PODS[0]})
    unknown = await ask("decide", about, systems=WITH_SEATS)
    known = about | {"neighbours": {}, "others": {NAME: STATE}}
    alone = await ask("decide", known, systems=WITH_SEATS)
    assert not unknown["decision"].get("decidedBy")
    assert alone["decision"]["decidedBy"] == NAME
