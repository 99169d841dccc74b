"""The OpenAPI document, made from the table of operations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi.openapi.utils import get_openapi
from prometheus_client import CollectorRegistry

import bailiff
from bailiff.decisions import Options
from bailiff.rest_api import schemas
from bailiff.rest_api.meters import Meters
from bailiff.rest_api.operations import QUESTIONS, READINGS
from bailiff.rest_api.problems import MEDIA_TYPE, STATUS, Problem, ProblemCode, Refusal
from bailiff.rest_api.questions import Questions
from bailiff.rest_api.upkeep import UPKEEP, Upkeep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.rest_api.examples import Example
    from bailiff.rest_api.operation import Operation, Question, Reading

TITLE = "Bailiff"
SUMMARY = "Should this pod be evicted, and when?"
DESCRIPTION = """\
Bailiff answers for Kubernetes whether a pod should be evicted and when, and explains the answer.
It knows the rules of kube-controller-manager's taint eviction, and repairs what is broken there.

- **Decisions** are made from the facts that you send: objects in Kubernetes' own JSON, as
  `kubectl get -o json` prints them. Fields that no rule needs are ignored, null counts as absent.
- **Cluster** operations fetch the objects for you, where Bailiff was given a cluster to read.
- **Upkeep** is for probes and Prometheus.

Nothing here changes anything. Every answer carries `X-Request-Id`, your own if you send one.
What cannot be answered comes as `application/problem+json` (RFC 9457) with a stable `code`.
"""
_TAGS = [
    {"name": "Decisions", "description": "Answers from the facts in the request."},
    {"name": "Cluster", "description": "Answers about the objects of the cluster, read live."},
    {"name": "Upkeep", "description": "Is it well, and what is it?"},
]
_REQUEST_ID = {
    "X-Request-Id": {
        "description": "The caller's own if it sent a sane one, else a new one.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    }
}
_EXPLAIN = {
    "name": "explain",
    "in": "query",
    "description": "Give the trace: every rule that was looked at.",
    "schema": {"type": "boolean"},
}

Json = dict[str, Any]


class _ExampleClock:
    """Examples name their own instant; this one is never asked."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(0, UTC)

    def latest(self) -> datetime:
        return self.now()

    def monotonic(self) -> float:
        return 0.0

    def elapsed(self) -> float:
        return 0.0


def make_document() -> Json:
    """The whole document, as a JSON value."""
    document = get_openapi(
        title=TITLE,
        version=bailiff.__version__,
        summary=SUMMARY,
        description=DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        tags=_TAGS,
        routes=[],
    )
    questions = Questions(_ExampleClock(), Options(), Meters(CollectorRegistry()))
    document["paths"] = {
        **{op.path: {"post": _question(op, questions)} for op in QUESTIONS},
        **{op.path: {"get": _reading(op, questions)} for op in READINGS},
        **{op.path: {"get": _upkeep(op)} for op in UPKEEP},
    }
    document["components"] = {"schemas": _components()}
    return document


def _components() -> dict[str, Json]:
    asked = [op.facts for op in QUESTIONS]
    answered = [op.answer for op in (*QUESTIONS, *READINGS, *UPKEEP) if op.answer is not str]
    found = schemas.components(asked, [*answered, Problem])
    _add_checks(found)
    return found


def _add_checks(found: dict[str, Json]) -> None:
    """What the types do not say but the facts' own `check` does."""
    devices = [_filled(name) for name in ("resourceClaims", "resourceSlices", "deviceTaintRules")]
    node = {"required": ["node"], "properties": {"node": {"type": "object"}}}
    found["Facts"]["anyOf"] = [node, *devices]
    found["DeviceFacts"]["anyOf"] = [_filled("pods"), _filled("resourceClaims")]
    found["TaintChangeFacts"]["anyOf"] = [_filled("addTaints"), _filled("removeTaints")]


def _filled(name: str) -> Json:
    return {"required": [name], "properties": {name: {"type": "array", "minItems": 1}}}


def _question(op: Question, questions: Questions) -> Json:
    bodies = {
        name: {"summary": example.summary, "value": example.body}
        for name, example in op.examples.items()
    }
    answers = {
        name: {"summary": example.summary, "value": _answer(op, questions, example)}
        for name, example in op.examples.items()
    }
    content = {"schema": schemas.reference(op.facts), "examples": bodies}
    return {
        **_head(op, "Decisions"),
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": _responses(op, {"examples": answers}),
    }


def _reading(op: Reading, questions: Questions) -> Json:
    parameters = [
        {
            "name": part.name,
            "in": "path",
            "required": True,
            "description": part.description,
            "schema": {"type": "string", "pattern": part.pattern, "maxLength": part.max_length},
            "example": part.example,
        }
        for part in op.parameters
    ]
    value = _answer(op.example_of, questions, op.example)
    return {
        **_head(op, "Cluster"),
        "parameters": [*parameters, _EXPLAIN],
        "responses": _responses(op, {"example": value}),
    }


def _upkeep(op: Upkeep) -> Json:
    return {
        **_head(op, "Upkeep"),
        "responses": _responses(op, {"example": op.example}, op.media_type),
    }


def _head(op: Operation, tag: str) -> Json:
    return {
        "operationId": op.id,
        "tags": [tag],
        "summary": op.summary,
        "description": op.description,
    }


def _responses(op: Operation, examples: Json, media_type: str = "application/json") -> Json:
    schema = {"type": "string"} if op.answer is str else schemas.reference(op.answer)
    responses: Json = {
        "200": {
            "description": "The answer.",
            "headers": _REQUEST_ID,
            "content": {media_type: {"schema": schema, **examples}},
        }
    }
    codes = (*op.codes, ProblemCode.INTERNAL)
    for status in sorted({STATUS[code][0].value for code in codes}):
        responses[str(status)] = _problem([c for c in codes if STATUS[c][0] == status], op.path)
    return responses


def _problem(codes: Iterable[ProblemCode], path: str) -> Json:
    titles = [f"{STATUS[code][1]} (`{code}`)." for code in codes]
    values = {
        str(code): {"value": msgspec.to_builtins(_example_problem(code, path))} for code in codes
    }
    return {
        "description": " ".join(titles),
        "headers": _REQUEST_ID,
        "content": {MEDIA_TYPE: {"schema": schemas.reference(Problem), "examples": values}},
    }


def _example_problem(code: ProblemCode, instance: str) -> Problem:
    if code is ProblemCode.INVALID_FIELD:
        where, why = "$.node.spec.taints[0].key", "Expected `str`, got `int`"
        return Refusal(code, why, path=where).problem("3f9c0a6d1b2e-1", instance)
    return Refusal(code, STATUS[code][1]).problem("3f9c0a6d1b2e-1", instance)


def _answer(op: Question, questions: Questions, example: Example) -> Any:  # noqa: ANN401 - any JSON value
    facts: Any = msgspec.convert(example.body, op.facts)
    return msgspec.to_builtins(op.ask(questions, facts))
