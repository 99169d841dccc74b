"""Changes of the nodes that a caller has registered: how many there are then, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.decisions.scheduling import PodsToJudge, RegisteredNodes, registering
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, node_of, pod_of

if TYPE_CHECKING:
    from bailiff.kinds import Node

JUDGE = SYSTEMS.judge_nodes
MOST = 3


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "MAX_NODES", MOST)


def full() -> RegisteredNodes:
    """As many nodes as may be: n0, n1 and so on."""
    found, told = JUDGE.register(), JUDGE.node_set(nodes=tuple(map(node_of, ("n0", "n1", "n2"))))
    assert found.replace(told).nodes == MOST
    return found


def change(nodes: RegisteredNodes, put: list[Node], remove: list[str]) -> int:
    """How many there are then."""
    told: Any = JUDGE.node_changes
    return nodes.change(told(put=tuple(put), remove=tuple(remove))).nodes


def names_of(nodes: RegisteredNodes) -> set[str]:
    plan = nodes.plan(PodsToJudge(pods=(pod_of("p"),)), START, Options())
    return {name for one in plan.answer().answers[0].verdicts for name in one.nodes}


def test_what_is_taken_away_and_put_in_one_message_is_there_as_it_was_put() -> None:
    nodes = full()
    assert change(nodes, [node_of("n0", no_execute())], ["n0"]) == MOST
    plan = nodes.plan(PodsToJudge(pods=(pod_of("p"),), nodes=("n0",)), START, Options())
    assert not plan.answer().answers[0].verdicts[0].feasible


@pytest.mark.parametrize(
    ("put", "remove", "left"),
    [
        pytest.param(["n0"], [], 3, id="changed"),
        pytest.param(["new", "new"], ["n0"], 3, id="told twice"),
        pytest.param(["new"], ["n0", "n0", "gone"], 3, id="taken away twice"),
        pytest.param(["n0", "new"], ["n0", "n1"], 3, id="taken away and put"),
        pytest.param([], ["gone"], 3, id="not there"),
        pytest.param([], ["n0", "n1"], 1, id="taken away"),
    ],
)
def test_there_may_be_as_many_as_one_may_register(
    put: list[str], remove: list[str], left: int
) -> None:
    nodes = full()
    assert change(nodes, [*map(node_of, put)], remove) == left
    assert len(names_of(nodes)) == left
    assert names_of(nodes) >= set(put)


@pytest.mark.parametrize(
    ("put", "remove"), [(["new"], []), (["new"], ["gone"]), (["n0", "new"], ["n0"])]
)
def test_more_are_refused_and_nothing_is_changed(put: list[str], remove: list[str]) -> None:
    nodes = full()
    with pytest.raises(FactsError) as caught:
        change(nodes, [*map(node_of, put)], remove)
    assert caught.value.path == "$.put"
    assert names_of(nodes) == {"n0", "n1", "n2"}
