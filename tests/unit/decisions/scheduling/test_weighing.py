"""What a question about nodes costs is counted before it is answered, and never too little."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import MAX_ANSWER_BYTES, SYSTEMS, FactsError, Options
from bailiff.decisions.cost import MAX_STEPS
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.scheduling import Maintenance, NodePool, PodsToJudge, planning
from bailiff.decisions.scheduling.planning import PoolTerms
from bailiff.kinds import Node, Pod, PodSpec, Taint, Toleration
from tests.harness.clocks import START
from tests.harness.fuzzing import fuzzed
from tests.harness.kinds import node_of, pod_of
from tests.unit.decisions.scheduling.drawn import devices, fleets, instants, maintenances, pods

JUDGE = SYSTEMS.judge_nodes
REQUEST: Any = JUDGE.question.facts


def registered(*nodes: Node, **more: Any) -> Any:
    mine = JUDGE.register()
    told: Any = JUDGE.node_set
    mine.replace(told(nodes=nodes, **more))
    return mine


def plan(mine: Any, *some: Pod, nodes: tuple[str, ...] = ()) -> Any:
    return mine.plan(PodsToJudge(pods=some, nodes=nodes), START, Options())


@fuzzed(400)
@given(pods(), fleets, st.lists(maintenances(), max_size=2), devices(), instants)
def test_no_answer_is_longer_than_was_counted(
    pod: Pod, fleet: list[Node], told: list[Maintenance], facts: DeviceTaintFacts, now: datetime
) -> None:
    asked = REQUEST(
        pod=pod, nodes=tuple(fleet), maintenance=tuple(told), device_taints=facts, now=now
    )
    found = JUDGE.question.plan(asked, START, Options())
    assert len(msgspec.json.encode(found.answer())) <= found.told


def test_texts_that_json_writes_longer_are_counted_so() -> None:
    text = "\x01" * 60
    taints = tuple(Taint(key=text, value=text, effect="NoExecute") for _ in range(50))
    tolerations = (Toleration(key=text, value=text, toleration_seconds=9, effect=text),)
    pod = Pod(spec=PodSpec(tolerations=tolerations))
    asked = REQUEST(pod=pod, nodes=(node_of("n" + text, *taints),))
    found = JUDGE.question.plan(asked, START, Options())
    assert len(msgspec.json.encode(found.answer())) <= found.told


def test_alike_pods_cost_little_more_than_one() -> None:
    mine = registered(
        *(node_of(f"n{i}", Taint(key=f"k{i}", effect="NoExecute")) for i in range(50))
    )
    one = plan(mine, pod_of("a"))
    alike = plan(mine, *(pod_of(f"p{i}") for i in range(100)))
    apart = plan(mine, *(pod_of(f"p{i}", "", Toleration(key=f"k{i}")) for i in range(100)))
    assert one.steps < alike.steps < 2 * one.steps
    assert apart.steps > 90 * one.steps
    assert alike.told > 90 * one.told


def test_what_would_be_too_much_work_is_refused() -> None:
    nodes = [node_of(f"n{i}", Taint(key=f"k{i}", effect="NoExecute")) for i in range(2000)]
    many = pod_of("p", "", *(Toleration(key=f"k{i}") for i in range(300)))
    with pytest.raises(FactsError, match="comparisons") as caught:
        plan(registered(*nodes), many)
    assert caught.value.path == "$.pods"
    with pytest.raises(FactsError, match="comparisons") as caught:
        JUDGE.question.plan(REQUEST(pod=many, nodes=tuple(nodes)), START, Options())
    assert caught.value.path == "$.nodes"


def test_nodes_that_would_take_too_long_to_look_at_are_refused_before_they_are() -> None:
    times = [Taint(effect="NoExecute", time_added=START + timedelta(n + 1)) for n in range(1000)]
    pool = NodePool(SYSTEMS.all, [node_of(f"n{i}", *times) for i in range(1001)])
    assert pool.steps_at(START) > MAX_STEPS > 1000 * pool.steps_at(START + timedelta(2000))
    pool.at = None  # type: ignore[method-assign,assignment]  # is not come to
    with pytest.raises(FactsError, match=r"\$\.pods"):
        planning.plan_one(pool, pod_of("p"), PoolTerms(START, Options(), "$.pods"))


def test_long_lists_count_where_nodes_have_no_taints_but_differ() -> None:
    some = tuple(Maintenance(nodes=(f"n{i}",), starts_at=START, reason=f"{i}") for i in range(1000))
    mine = registered(*(node_of(f"n{i}") for i in range(1000)), maintenance=some)
    with pytest.raises(FactsError, match="comparisons"):
        plan(mine, pod_of("p", "", *(Toleration(key=f"k{i}") for i in range(1000))))


def test_what_would_be_too_long_is_refused_and_for_some_of_the_nodes_is_not() -> None:
    mine = registered(*(node_of(f"{i:0250}") for i in range(2000)))
    many = [pod_of(f"p{i}") for i in range(100)]
    with pytest.raises(FactsError, match=f"at most {MAX_ANSWER_BYTES}") as caught:
        plan(mine, *many)
    assert caught.value.path == "$.pods"
    assert plan(mine, *many, nodes=(f"{1:0250}",)).told < MAX_ANSWER_BYTES


@pytest.mark.parametrize(
    ("told", "path"),
    [
        pytest.param(
            {"nodes": (node_of("n", *[Taint(key="k")] * 10_001),)},
            "$.nodes[0].spec.taints",
            id="taints",
        ),
        pytest.param(
            {"maintenance": (Maintenance(nodes=("n",) * 200_001, starts_at=START),)},
            "$.maintenance",
            id="nodes of maintenance",
        ),
    ],
)
def test_more_than_anybody_has_is_refused(told: dict[str, Any], path: str) -> None:
    with pytest.raises(FactsError) as caught:
        JUDGE.question.plan(REQUEST(pod=Pod(), **told), START, Options())
    assert caught.value.path == path
