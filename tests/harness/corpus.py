"""The cases of tests/cases, and the core's answers to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from bailiff.decisions import FactsError, Options, Question, Systems
from bailiff.kinds import DecodeError, decode
from tests.harness.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = dict[str, Any]

CASES = Path(__file__).parents[1] / "cases"
KEYS = {"id", "question", "body", "expect", "not-in-protobuf"}
# What is asked where a case does not say.
DEFAULT_QUESTION = "decide"
ABSENT = "absent"
CLOCK = ManualClock()


def load() -> list[dict[str, Any]]:
    cases = [
        case for path in sorted(CASES.glob("*.yaml")) for case in yaml.safe_load(path.read_text())
    ]
    for case in cases:
        assert set(case) <= KEYS, case["id"]
    return cases


def question_of(case: Mapping[str, Any], systems: Systems) -> Question[Any]:
    """The entry of the core's table; REST's path and gRPC's method are made from it."""
    return systems.questions[case.get("question", DEFAULT_QUESTION)]


def answer_of_core(question: Question[Any], body: Mapping[str, Any]) -> Any:
    """The core's answer as JSON, or what is at fault and where."""
    try:
        facts = decode(msgspec.json.encode(body), question.facts)
        answer = question.ask(facts, CLOCK.now(), Options())
    except DecodeError as error:
        code = "malformed_body" if error.malformed else "invalid_field"
        return {"error": code, "path": error.path}
    except FactsError as error:
        return {"error": "invalid_field", "path": error.path}
    return json.loads(msgspec.json.encode(answer))


def holds(expected: object, given: object) -> bool:
    """Whether everything expected is in what is given."""
    if isinstance(expected, dict) and isinstance(given, dict):
        return all(
            key not in given if part == ABSENT else key in given and holds(part, given[key])
            for key, part in expected.items()
        )
    if isinstance(expected, list) and isinstance(given, list):
        return len(expected) == len(given) and all(map(holds, expected, given))
    return type(expected) is type(given) and expected == given
