"""The face answers as the core does: it translates and nothing else."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from bailiff.decisions import (
    Facts,
    NodeFacts,
    TaintChangeFacts,
    decide,
    decide_change,
    decide_node,
    summarize,
)
from tests.harness.faces.grpc_face import NOW, ask
from tests.harness.faces.questions import CHANGE_FACTS, FACTS, NODE_FACTS, body


@pytest.mark.parametrize("question", ["decide", "node-taints"])
@settings(max_examples=60, deadline=None)
@given(facts=FACTS)
async def test_one_pod_is_answered_as_by_the_core(question: str, facts: Facts) -> None:
    assert await ask(question, body(facts)) == msgspec.to_builtins(decide(facts, NOW))


@settings(max_examples=60, deadline=None)
@given(facts=NODE_FACTS)
async def test_a_batch_is_answered_as_by_the_core(facts: NodeFacts) -> None:
    expected = msgspec.to_builtins(decide_node(facts, NOW))
    assert await ask("node", body(facts)) == {"decisions": list(expected)}


@settings(max_examples=60, deadline=None)
@given(facts=CHANGE_FACTS)
async def test_a_change_is_answered_as_by_the_core(facts: TaintChangeFacts) -> None:
    changes = decide_change(facts, NOW)
    assert await ask("taint-change", body(facts)) == {
        "changes": list(msgspec.to_builtins(changes)),
        "summary": msgspec.to_builtins(summarize(changes)),
    }
