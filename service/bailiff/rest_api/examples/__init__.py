"""Questions to try, in Kubernetes' own JSON. Their answers are computed, never written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.decisions import Options
from bailiff.decisions.instants import START_OF_TIME
from bailiff.rest_api.examples import devices, losses, nodes, pressure, scheduling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions import Question
    from bailiff.rest_api.examples.nodes import Example

# By the question's name; a question without any is shown without.
EXAMPLES: Mapping[str, Mapping[str, Example]] = {
    "decide": {**nodes.ONE_POD, **devices.POD_WITH_DEVICES},
    "decideBatch": {**nodes.NODE, **devices.DEVICES, **losses.LOST_NODE},
    "previewTaintChange": nodes.TAINT_CHANGE,
    "previewDeviceTaintRule": devices.DEVICE_TAINT_RULE,
    "planPressureRound": pressure.ROUND,
    "rankForPressure": pressure.RANKING,
    "admitUnderPressure": pressure.ADMISSION,
    "readEvictionConfiguration": pressure.CONFIGURATION,
    "judgeNodes": scheduling.NODES,
}


def bodies_of(question: Question[Any]) -> dict[str, Any]:
    """The examples of a question, as OpenAPI shows them."""
    # A process may have fewer systems, and their sections alone.
    known = {field.encode_name for field in msgspec.structs.fields(question.facts)}
    return {
        name: {"summary": example.summary, "value": example.body}
        for name, example in EXAMPLES.get(question.name, {}).items()
        if example.body.keys() <= known
    }


def answers_to(question: Question[Any]) -> dict[str, Any]:
    """Their answers likewise, given by the same code as any other answer."""
    return {
        name: {"summary": example["summary"], "value": _answer(question, example["value"])}
        for name, example in bodies_of(question).items()
    }


def _answer(question: Question[Any], body: object) -> object:
    # Examples name their own instant.
    facts = msgspec.convert(body, question.facts)
    return msgspec.to_builtins(question.ask(facts, START_OF_TIME, Options()))
