"""Which node the scheduler of examples/scheduler takes."""

from __future__ import annotations

from bailiff.client.messages import JudgeNodesResponse, NodesVerdict, Residency
from examples.scheduler.choosing import Load, best

FOR_EVER = Residency(for_ever=True)


def answer(*verdicts: NodesVerdict) -> JudgeNodesResponse:
    return JudgeNodesResponse(verdicts=verdicts)


def test_the_node_that_bailiff_names_first_is_taken() -> None:
    brief = NodesVerdict(nodes=["brief"], feasible=True, normalized_score=100)
    liked_less = NodesVerdict(nodes=["long"], feasible=True, residency=FOR_EVER)
    assert best(answer(brief, liked_less), Load()) == "brief"
    shut = NodesVerdict(nodes=["shut"], residency=FOR_EVER)
    assert best(answer(shut, liked_less), Load()) == "long"
    assert best(answer(shut), Load()) is None


def test_of_nodes_that_are_alike_the_emptiest_is_taken() -> None:
    load = Load()
    alike = answer(NodesVerdict(nodes=["a", "b"], feasible=True))
    load.put("1", "a")
    assert best(alike, load) == "b"
    load.put("2", "b")
    load.put("3", "b")
    assert best(alike, load) == "a"


def test_pods_that_end_are_counted_no_more() -> None:
    load = Load()
    for uid in ("1", "2"):
        load.put(uid, "a")
        load.put(uid, "a")
    assert load.of("a") == 2
    load.gone("1")
    load.gone("1")
    assert load.of("a") == 1
    load.put("2", "b")
    assert (load.of("a"), load.of("b")) == (0, 1)
    load.clear()
    assert load.of("b") == 0
