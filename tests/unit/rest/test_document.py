"""The OpenAPI document says what the server does."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI

from bailiff.rest_api import RestApp
from bailiff.rest_api.openapi import render
from bailiff.rest_api.problems import STATUS, ProblemCode
from tests.harness.faces.asgi import call

COMMITTED = Path(__file__).parents[3] / "openapi.json"
DOCUMENT: dict[str, Any] = json.loads(render())
OPERATIONS = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
]


def test_the_committed_document_is_current() -> None:
    assert COMMITTED.read_text() == render(), "run `make openapi` and commit openapi.json"


async def test_the_served_document_is_the_same(app: RestApp) -> None:
    assert (await call(app, "GET", "/openapi.json")).json == DOCUMENT


def test_it_is_openapi() -> None:
    OpenAPI.model_validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1")


def test_operation_ids_are_unique() -> None:
    ids = [parameter.values[2]["operationId"] for parameter in OPERATIONS]  # type: ignore[index]  # a dict
    assert len(set(ids)) == len(ids) == 13


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(DOCUMENT)
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names == set(DOCUMENT["components"]["schemas"])


def test_every_property_says_what_it_means() -> None:
    silent = [
        f"{name}.{field}"
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for field, part in schema.get("properties", {}).items()
        if not part.get("description")
    ]
    assert silent == []


def test_no_words_of_python_in_it() -> None:
    schemas = json.dumps(DOCUMENT["components"]["schemas"])
    assert "Attributes:" not in schemas
    assert "None " not in schemas


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_can_be_tried(method: str, path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    (content,) = operation["responses"]["200"]["content"].values()
    assert content.get("example") or content["examples"]
    if method == "post":
        assert operation["requestBody"]["content"]["application/json"]["examples"]
    for parameter in operation.get("parameters", ()):
        assert parameter["in"] == "query" or parameter["example"]


def test_every_problem_has_a_status() -> None:
    assert set(STATUS) == set(ProblemCode)


def test_null_is_allowed_where_the_server_allows_it() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Taint"]["properties"]["key"]["type"] == ["string", "null"]
    assert schemas["TaintObservation"]["properties"]["key"]["type"] == "string"
    assert {"type": "null"} in schemas["NodeFacts"]["properties"]["pods"]["items"]["anyOf"]
    assert schemas["Finding"]["properties"]["evictAt"]["type"] == "string"
