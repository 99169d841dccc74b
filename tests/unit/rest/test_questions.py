"""Facts in, decisions out."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.rest_api.operations import QUESTIONS, Question
from tests.harness.faces.asgi import call

EXAMPLES = [
    pytest.param(question, example.body, id=f"{question.id}-{name}")
    for question in QUESTIONS
    for name, example in question.examples.items()
]
TAINTED = {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}


@pytest.mark.parametrize(("question", "body"), EXAMPLES)
async def test_examples_are_answered(
    app: FastAPI, question: Question, body: dict[str, Any]
) -> None:
    answer = await call(app, "POST", question.path, body)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    (value,) = [
        response["value"]
        for name, response in app.openapi()["paths"][question.path]["post"]["responses"]["200"][
            "content"
        ]["application/json"]["examples"].items()
        if question.examples[name].body == body
    ]
    assert answer.json == json.loads(json.dumps(value)), "the document shows another answer"


@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/decisions/node-taints"])
async def test_one_pod(app: FastAPI, path: str) -> None:
    answer = await call(app, "POST", path, {"pod": {}, "node": TAINTED})
    assert (answer.json["verdict"], answer.json["decidedBy"]) == ("EVICT_NOW", "node-taints")
    assert answer.json["decidedAt"] == "2026-05-04T12:00:00Z"


@pytest.mark.parametrize("path", ["/v1/decisions/batch", "/v1/decisions/node-taints/batch"])
async def test_a_node_answers_for_its_pods_in_order(app: FastAPI, path: str) -> None:
    pods = [{"metadata": {"name": name}} for name in ("b", "a", "c")]
    answer = await call(app, "POST", path, {"node": TAINTED, "pods": pods})
    assert [d["pod"]["name"] for d in answer.json["decisions"]] == ["b", "a", "c"]
    assert "trace" not in answer.json["decisions"][0]["findings"][0]


async def test_a_preview_counts_where_the_changed_pods_go(app: FastAPI) -> None:
    waits = {"operator": "Exists", "key": "new", "tolerationSeconds": 60}
    forever = {"operator": "Exists", "key": "k"}
    pods = [{}, {"spec": {"tolerations": [waits]}}, {"spec": {"tolerations": [forever]}}]
    body = {
        "node": TAINTED,
        "pods": pods,
        "addTaints": [{"key": "new", "effect": "NoExecute"}],
        "removeTaints": [{"key": "k"}],
    }
    body["removeTaints"] = [{"key": "k", "effect": ""}]
    answer = await call(app, "POST", "/v1/decisions/node-taints/preview", body)
    # The first would go before and after: no change. The others change places.
    assert answer.json["summary"] == {"evictNow": 1, "evictAt": 1, "keep": 0}
    assert [c["after"]["verdict"] for c in answer.json["changes"]] == ["EVICT_AT", "EVICT_NOW"]


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "application/merge+json", None]
)
async def test_content_types_that_are_json(app: FastAPI, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = await call(app, "POST", "/v1/decisions", {"pod": {}, "node": {}}, headers)
    assert answer.status == 200


async def test_a_body_may_come_in_pieces(app: FastAPI) -> None:
    pieces = [b'{"pod": {}, ', b'"node"', b": {}}", b""]
    messages = [
        {"type": "http.request", "body": piece, "more_body": piece != b""} for piece in pieces
    ]
    answer = await call(app, "POST", "/v1/decisions", messages=messages)
    assert answer.json["verdict"] == "KEEP"


async def test_decisions_are_counted(app: FastAPI, registry: CollectorRegistry) -> None:
    body = {"node": TAINTED, "pods": [{}, {}, {"spec": {"tolerations": [{"operator": "Exists"}]}}]}
    await call(app, "POST", "/v1/decisions/batch", body)

    def count(verdict: str, system: str) -> float | None:
        labels = {"verdict": verdict, "system": system}
        return registry.get_sample_value("bailiff_rest_decisions_total", labels)

    assert (count("EVICT_NOW", "node-taints"), count("KEEP", "")) == (2, 1)
