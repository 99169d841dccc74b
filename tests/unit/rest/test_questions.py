"""Facts in, decisions out."""

from typing import Any

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS
from bailiff.rest_api.examples import EXAMPLES
from tests.harness.faces.asgi import call

TRIED = [
    pytest.param(f"/v1/{question.path}", name, example.body, id=f"{question.name}-{name}")
    for question in SYSTEMS.questions.values()
    for name, example in EXAMPLES[question.name].items()
]
TAINTED = {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}


@pytest.mark.parametrize(("path", "name", "body"), TRIED)
async def test_examples_are_answered(
    app: FastAPI, path: str, name: str, body: dict[str, Any]
) -> None:
    answer = await call(app, "POST", path, body)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    told = app.openapi()["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]
    assert answer.json == told["examples"][name]["value"], "the document shows another answer"


async def test_one_pod(app: FastAPI) -> None:
    answer = await call(app, "POST", "/v1/decisions", {"pod": {}, "node": TAINTED})
    decision = answer.json["decision"]
    assert (decision["verdict"], decision["decidedBy"]) == ("EVICT_NOW", "node-taints")
    assert decision["decidedAt"] == "2026-05-04T12:00:00Z"


async def test_a_node_answers_for_its_pods_in_order(app: FastAPI) -> None:
    pods = [{"metadata": {"name": name}} for name in ("b", "a", "c")]
    answer = await call(app, "POST", "/v1/decisions/batch", {"node": TAINTED, "pods": pods})
    assert [d["pod"]["name"] for d in answer.json["decisions"]] == ["b", "a", "c"]
    assert "trace" not in answer.json["decisions"][0]["findings"][0]


@pytest.mark.parametrize("number", [20, 3000])
async def test_however_long_it_takes_the_answer_is_the_same(app: FastAPI, number: int) -> None:
    """A question of much work is answered in a thread, a long body read there, too."""
    pods = [{"metadata": {"name": f"web-{i}", "padding": "x" * 200}} for i in range(number)]
    answer = await call(app, "POST", "/v1/decisions/batch", {"node": TAINTED, "pods": pods})
    found = [(d["pod"]["name"], d["verdict"]) for d in answer.json["decisions"]]
    assert found == [(f"web-{i}", "EVICT_NOW") for i in range(number)]


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
    answer = await call(app, "POST", "/v1/previews/taint-change", body)
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
    assert answer.json["decision"]["verdict"] == "KEEP"


async def test_decisions_are_counted(app: FastAPI, registry: CollectorRegistry) -> None:
    body = {"node": TAINTED, "pods": [{}, {}, {"spec": {"tolerations": [{"operator": "Exists"}]}}]}
    await call(app, "POST", "/v1/decisions/batch", body)

    def count(verdict: str, system: str) -> float | None:
        labels = {"verdict": verdict, "system": system}
        return registry.get_sample_value("bailiff_rest_decisions_total", labels)

    assert (count("EVICT_NOW", "node-taints"), count("KEEP", "")) == (2, 1)
