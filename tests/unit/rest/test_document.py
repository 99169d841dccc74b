"""The OpenAPI document says what the server does."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.openapi.models import OpenAPI

from bailiff.access import rest_rules
from bailiff.bootstrap.openapi import render
from bailiff.decisions import SYSTEMS
from bailiff.webhooks import hooks_of
from tests.harness.admission import app_of, parts_of
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


async def test_the_served_document_is_the_same() -> None:
    assert (await call(app_of(), "GET", "/openapi.json")).json == DOCUMENT


async def test_without_hooks_it_tells_of_none(app: FastAPI) -> None:
    told = (await call(app, "GET", "/openapi.json")).json
    hooks = {path for path in DOCUMENT["paths"] if path.startswith("/admission/")}
    assert hooks
    assert DOCUMENT["paths"].keys() - told["paths"].keys() == hooks
    assert "AdmissionReview" not in told["components"]["schemas"]


def test_it_is_openapi() -> None:
    OpenAPI.model_validate(DOCUMENT)
    assert DOCUMENT["openapi"].startswith("3.1")


def test_operation_ids_are_unique() -> None:
    ids = [parameter.values[2]["operationId"] for parameter in OPERATIONS]  # type: ignore[index]  # a dict
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("part", ["schemas", "responses", "headers"])
def test_every_reference_leads_somewhere(part: str) -> None:
    references = json.dumps(DOCUMENT).split(f'"#/components/{part}/')[1:]
    names = {text.split('"')[0] for text in references}
    assert names == set(DOCUMENT["components"][part])


def test_nothing_leads_out_of_the_document() -> None:
    assert '"$ref": "http' not in json.dumps(DOCUMENT)


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


def shows_examples(schema: dict[str, Any]) -> bool:
    named = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return all(part["examples"] for part in named["properties"].values())


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_can_be_tried(method: str, path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    (content,) = operation["responses"]["200"]["content"].values()
    assert content.get("example") or content.get("examples") or shows_examples(content["schema"])
    if method == "post":
        assert operation["requestBody"]["content"]["application/json"]["examples"]
    for parameter in operation.get("parameters", ()):
        assert parameter["in"] == "query" or parameter["examples"]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_a_body_is_one_object(method: str, path: str, operation: dict[str, Any]) -> None:
    """Generators make a class of an object, and nothing of use of a choice."""
    if method == "post":
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        named = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        assert named["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & named.keys()


def test_enums_have_a_type() -> None:
    def untyped(value: object) -> list[object]:
        if isinstance(value, list):
            return [found for part in value for found in untyped(part)]
        if not isinstance(value, dict):
            return []
        here = [value] if isinstance(value.get("enum"), list) and "type" not in value else []
        return here + [found for part in value.values() for found in untyped(part)]

    assert untyped(DOCUMENT) == []
    assert DOCUMENT["components"]["schemas"]["Verdict"]["type"] == "string"


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_problems_stand_in_the_document_once(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    problems = {status: told for status, told in operation["responses"].items() if status != "200"}
    assert "500" in problems
    assert all(list(told) == ["$ref"] for told in problems.values())


def test_where_trying_again_helps_it_is_said_when() -> None:
    retried = {
        name
        for name, response in DOCUMENT["components"]["responses"].items()
        if "Retry-After" in response["headers"]
    }
    assert retried == {
        "AuthenticationUnavailable",
        "NoClusterOrClusterUnavailableOrOverloadedOrAuthenticationUnavailable",
        "OverloadedOrAuthenticationUnavailable",
        "TooManyRequests",
    }


def test_it_tells_where_a_token_may_be_needed_and_what_is_answered_without_one() -> None:
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    told = {
        (method.upper(), path): operation
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
    }
    hooks = [one.path for one in hooks_of(parts_of())]
    rules = {(rule.method, rule.path): rule for rule in rest_rules(SYSTEMS, hooks)}
    for asked, operation in told.items():
        is_open = rules[asked].needs is None
        assert operation.get("security", DOCUMENT["security"]) == (
            [] if is_open else [{"bearer": []}, {}]
        )
        assert ("401" not in operation["responses"]) is is_open
        assert ("429" not in operation["responses"]) is is_open
    forbidden = {path for (_, path), one in told.items() if "403" in one["responses"]}
    assert forbidden == {
        *(f"/admission/v1/{hook}" for hook in hooks),
        "/metrics",
        "/scheduler/extender/v1/filter",
        "/scheduler/extender/v1/preempt",
        "/scheduler/extender/v1/prioritize",
        "/v1/namespaces/{namespace}/pods/{name}/decision",
        "/v1/nodes/{name}/decisions",
    }


def test_null_is_allowed_where_the_server_allows_it() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Taint-Input"]["properties"]["key"]["type"] == ["string", "null"]
    assert schemas["Taint-Output"]["properties"]["key"]["type"] == "string"
    assert schemas["TaintObservation"]["properties"]["key"]["type"] == "string"
    assert {"type": "null"} in schemas["DecideBatchRequest"]["properties"]["pods"]["items"]["anyOf"]
    assert schemas["Finding"]["properties"]["evictAt"]["type"] == "string"
