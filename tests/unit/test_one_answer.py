"""One question, one answer: the corpus of tests/cases through the core, REST and gRPC."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from prometheus_client import CollectorRegistry

from bailiff.clock import Clock
from bailiff.decisions import (
    DeviceFacts,
    DeviceTaintRuleFacts,
    Facts,
    FactsError,
    NodeFacts,
    NodeTaintFacts,
    Options,
    TaintChangeFacts,
    decide,
    decide_change,
    decide_devices,
    decide_node,
    preview_rule,
    summarize,
)
from bailiff.kinds import DecodeError, decode
from bailiff.rest_api import RestSettings, create_app
from tests.harness.clocks import ManualClock
from tests.harness.faces import grpc_face
from tests.harness.faces.asgi import call

Body = Mapping[str, Any]

CASES = Path(__file__).parents[1] / "cases"
KEYS = {"id", "question", "body", "expect", "not-in-protobuf"}
ONE_POD = ("decide", "node-taints")
PATHS = {
    "decide": "/v1/decisions",
    "node-taints": "/v1/decisions/node-taints",
    "node": "/v1/decisions/batch",
    "taint-change": "/v1/decisions/node-taints/preview",
    "device-taints": "/v1/decisions/device-taints",
    "device-taint-rule": "/v1/decisions/device-taints/preview",
}
ABSENT = "absent"
CLOCK: Clock = ManualClock()


def load() -> list[dict[str, Any]]:
    cases = [
        case for path in sorted(CASES.glob("*.yaml")) for case in yaml.safe_load(path.read_text())
    ]
    for case in cases:
        assert set(case) <= KEYS, case["id"]
    return cases


LOADED = load()
ASKED = [
    pytest.param(question, case, id=f"{case['id']} ({question})")
    for case in LOADED
    for question in ([case["question"]] if "question" in case else ONE_POD)
]


def of_core(question: str, body: Body) -> Any:
    written = msgspec.json.encode(body)
    try:
        return json.loads(msgspec.json.encode(_ask_core(question, written)))
    except DecodeError as error:
        code = "malformed_body" if error.malformed else "invalid_field"
        return {"error": code, "path": error.path}
    except FactsError as error:
        return {"error": "invalid_field", "path": error.path}


def _ask_core(question: str, written: bytes) -> object:
    now, brief = CLOCK.now(), Options(explain=False)
    if question == "node":
        return {"decisions": decide_node(decode(written, NodeFacts), now, brief)}
    if question == "taint-change":
        changes = decide_change(decode(written, TaintChangeFacts), now, brief)
        return {"changes": changes, "summary": summarize(changes)}
    if question == "device-taints":
        return decide_devices(decode(written, DeviceFacts), now, brief)
    if question == "device-taint-rule":
        return preview_rule(decode(written, DeviceTaintRuleFacts), now, brief)
    if question == "node-taints":
        return decide(decode(written, NodeTaintFacts).widened(), now, Options())
    return decide(decode(written, Facts), now, Options())


async def of_rest(question: str, body: Body) -> Any:
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options())
    answer = await call(app, "POST", PATHS[question], dict(body))
    if answer.status == 200:
        return answer.json
    return {"error": answer.json["code"], "path": answer.json["errors"][0]["path"]}


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


@pytest.mark.parametrize(("question", "case"), ASKED)
async def test_every_face_gives_the_one_answer(question: str, case: dict[str, Any]) -> None:
    answer = of_core(question, case["body"])
    assert holds(case["expect"], answer), answer
    assert await of_rest(question, case["body"]) == answer
    if "not-in-protobuf" in case:
        with pytest.raises(grpc_face.InexpressibleError):
            grpc_face.message_of(case["body"], grpc_face._QUESTIONS[question][1]())
    else:
        given = await grpc_face.ask(question, case["body"], now=CLOCK.now())
        assert json.loads(json.dumps(given)) == answer


def test_ids_are_unique() -> None:
    ids = [case["id"] for case in LOADED]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ({"a": 1}, {}),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": ABSENT}, {"a": None}),
        ([1], [1, 2]),
        ([{"a": ABSENT}], [{"a": 1}]),
        ({"a": {}}, {"a": []}),
    ],
)
def test_what_does_not_hold(expected: object, given: object) -> None:
    assert not holds(expected, given)
