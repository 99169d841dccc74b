"""A summary of another node than the one that is asked about is a mistake, and no answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.kinds import decode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POD = {"metadata": {"uid": "u", "name": "web", "namespace": "d"}, "spec": {"nodeName": "m"}}
PATH = "$.pressure.summary.node.nodeName"


def ask(question: str, of_node: str, node: str | None, **told: Any) -> Any:
    """About pod and node, by a summary of some node."""
    pods = {"pod": POD, "neighbours": {}} if question == "decide" else {"pods": [POD]}
    pressure = {"summary": {"node": {"nodeName": of_node}}} | told
    whole: dict[str, Any] = pods | {"pressure": pressure}
    if node is not None:
        whole["node"] = {"metadata": {"name": node}}
    asked = SYSTEMS.questions[question]
    facts = decode(json.dumps(whole).encode(), asked.facts)
    return asked.ask(facts, NOW, Options())


QUESTIONS = ["planPressureRound", "decide", "decideBatch"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_is_refused(question: str) -> None:
    with pytest.raises(FactsError) as told:
        ask(question, "n", "m")
    assert told.value.path == PATH
    assert told.value.reason == "is 'n', and $.node.metadata.name is 'm': that of another node"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("of_node", ["m", ""])
def test_what_is_not_told_contradicts_nothing(question: str, of_node: str) -> None:
    assert ask(question, of_node, "m") is not None


@pytest.mark.parametrize("node", ["", None])
def test_a_node_without_a_name_contradicts_nothing(node: str | None) -> None:
    assert ask("planPressureRound", "n", node) is not None


def test_that_after_reclaim_steps_is_of_the_same_node() -> None:
    with pytest.raises(FactsError) as told:
        ask("planPressureRound", "m", "m", afterReclaim={"summary": {"node": {"nodeName": "n"}}})
    assert told.value.path == "$.pressure.afterReclaim.summary.node.nodeName"
