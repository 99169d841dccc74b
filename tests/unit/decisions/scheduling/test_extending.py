"""Verdicts as kube-scheduler's extenders tell them: in the same order, and of every node."""

from __future__ import annotations

import pytest

from bailiff.decisions.scheduling.extending import MAX_POINTS, closed, failed, points
from bailiff.decisions.scheduling.verdicts import NodesVerdict, Objection, Residency
from bailiff.kinds import Taint
from tests.harness.clocks import START

STAYS = Residency(for_ever=True, reason="r", message="m")
LEAVES = Residency(for_ever=False, until=START, reason="r", message="m")
GPU = Objection(rule="r", message="no", taint=Taint(key="gpu", effect="NoSchedule"))


def verdict(name: str, *objections: Objection, stays: Residency = STAYS) -> NodesVerdict:
    feasible = not objections
    return NodesVerdict(
        nodes=(name, f"{name}2"),
        feasible=feasible,
        raw_score=0,
        residency=stays,
        objections=objections,
    )


@pytest.mark.parametrize(
    ("feasible", "expected"),
    [(1, [10]), (2, [10, 0]), (3, [10, 5, 0]), (4, [10, 6, 3, 0])],
)
def test_points_fall_evenly_from_all_to_none(feasible: int, expected: list[int]) -> None:
    verdicts = [*(verdict(f"n{place}") for place in range(feasible)), verdict("no", GPU)]
    given = points(verdicts)
    assert [given[f"n{place}"] for place in range(feasible)] == expected
    assert given["n0"] == given["n02"] == MAX_POINTS
    assert given["no"] == 0


def test_where_no_node_will_do_none_has_points() -> None:
    assert points([verdict("no", GPU)]) == {"no": 0, "no2": 0}
    assert points([]) == {}


def test_the_first_objection_is_told_with_its_taint() -> None:
    cordoned = Objection(rule="r", message="shut")
    verdicts = [verdict("free"), verdict("a", GPU, cordoned), verdict("b", cordoned)]
    said = {"a": "no: gpu:NoSchedule", "b": "shut"}
    assert failed(verdicts) == said | {f"{name}2": why for name, why in said.items()}


def test_closed_are_nodes_where_it_may_not_go_or_could_not_stay() -> None:
    verdicts = [verdict("free"), verdict("no", GPU), verdict("brief", stays=LEAVES)]
    assert closed(verdicts, START) == {"no", "no2", "brief", "brief2"}
