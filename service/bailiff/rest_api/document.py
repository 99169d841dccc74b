"""The OpenAPI document: FastAPI's own, with our schemas joined in.

https://fastapi.tiangolo.com/how-to/extending-openapi/ is the way that FastAPI gives for it. The
operations and their parameters are FastAPI's; what they refer to stands here, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from fastapi.openapi.utils import get_openapi

from bailiff import schemas
from bailiff.decisions import Subject
from bailiff.kinds.admission_review import AdmissionReview, ReviewedAdmission
from bailiff.rest_api.access import SECURITY, SECURITY_SCHEMES, problems_of
from bailiff.rest_api.examples.codes import CODES
from bailiff.rest_api.problems import MEDIA_TYPE, PROBLEMS, Problem, ProblemCode, Refusal
from bailiff.rest_api.routers import extender
from bailiff.rest_api.wire import ANSWERED, ASKED

if TYPE_CHECKING:
    from fastapi import FastAPI

    from bailiff.access import Rule, Rules
    from bailiff.decisions import Systems

SUMMARY = "Should this pod be evicted, and when?"
DESCRIPTION = """\
Bailiff answers for Kubernetes whether a pod should be evicted and when, and explains the answer.
It knows the rules of kube-controller-manager's taint eviction and of the kubelet's eviction
manager, and repairs some of their faults.

- **Decisions** are made from the facts that you send: objects in Kubernetes' own JSON, as
  `kubectl get -o json` prints them. Fields of these objects that no rule needs are ignored, and
  null counts as absent. An unknown field of the question itself is refused.
- **Cluster** operations fetch the objects for you, if Bailiff was given a cluster to read.
- **Scheduling** says where a pod could go, and how long it could stay there. It serves authors of
  schedulers, and kube-scheduler as its extender.
- **Admission** answers the webhooks of kube-apiserver, if Bailiff was started with them.
- **Health** is for probes and Prometheus.

Nothing here changes the cluster, with one exception. If the server has hooks and policies with
budgets over time (`overTime`), the review of an eviction takes a place in a budget, unless its
`dryRun` is true.

Every answer carries `X-Request-Id`, your own if you send one. An error is an
`application/problem+json` (RFC 9457) with a stable `code`.
"""
TAGS = [
    {"name": "Decisions", "description": "Answers from the facts in the request."},
    {"name": "Cluster", "description": "Answers about the objects of the cluster, read live."},
    {"name": "Scheduling", "description": "Where could a pod go, and for how long?"},
    {"name": "Admission", "description": "What the API server's admission webhooks call."},
    {"name": "Health", "description": "Is it well, and what is it?"},
]
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}

_REQUEST_ID, _RETRY_AFTER = "X-Request-Id", "Retry-After"
_CHALLENGE = "WWW-Authenticate"
_HEADERS = {
    _REQUEST_ID: {
        "description": "The caller's own if it sent a sane one, else a new one.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    _RETRY_AFTER: {
        "description": "Seconds after which it is worth trying again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    _CHALLENGE: {
        "description": "How to say who asks (RFC 6750).",
        "schema": {"type": "string"},
    },
}
_RETRIED = {
    ProblemCode.OVERLOADED,
    ProblemCode.CLUSTER_UNAVAILABLE,
    ProblemCode.AUTHENTICATION_UNAVAILABLE,
    ProblemCode.TOO_MANY_REQUESTS,
}
_INTERNAL = {PROBLEMS: [ProblemCode.INTERNAL.value]}
# How FastAPI would tell what is wrong with a body; ours are told as problems.
_OF_FASTAPI = {"HTTPValidationError", "ValidationError"}

Json = dict[str, Any]


def document_of(app: FastAPI, systems: Systems, rules: Rules, *, hooks: bool = False) -> Json:
    """The whole document of an application that asks these systems, as a JSON value.

    Args:
        app: see there.
        systems: that it asks.
        rules: of its operations.
        hooks: whether it has any.

    Raises:
        TypeError: two types of theirs have one name.
        UnknownPathError: an operation has no rule.
    """
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        license_info=app.license_info,
        tags=app.openapi_tags,
        routes=app.routes,
    )
    problems: Json = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            _tell_access(operation, rules.find(method.upper(), path)[0])
            _tell_answers(operation, problems)
    questions = systems.questions.values()
    asked: list[type] = [*(one.facts for one in questions), *extender.ASKED]
    answered: list[type] = [*(one.answer for one in questions), *extender.ANSWERED]
    if hooks:
        asked, answered = [*asked, AdmissionReview], [*answered, ReviewedAdmission]
    choices: dict[type, tuple[type, ...]] = {Subject: systems.subjects}
    _join(document, schemas.components(asked, [*answered, Problem], choices), problems)
    return document


def _tell_access(operation: Json, rule: Rule) -> None:
    """What the guard asks for, and what it may answer instead."""
    if rule.needs is None:
        operation["security"] = []
    for code in problems_of(rule):
        told = operation["responses"].setdefault(str(code.status.value), {PROBLEMS: []})
        told[PROBLEMS].append(code.value)


def _tell_answers(operation: Json, problems: Json) -> None:
    """The headers of answers; problems by reference, described in `problems`."""
    responses = operation["responses"]
    if PROBLEMS not in responses.get("422", {PROBLEMS: []}):
        # FastAPI's own, for a body that it would check.
        del responses["422"]
    responses["200"]["headers"] = {_REQUEST_ID: _header(_REQUEST_ID)}
    responses.setdefault("500", _INTERNAL)
    for status, response in responses.items():
        if PROBLEMS in response:
            codes = [ProblemCode[code.upper()] for code in response[PROBLEMS]]
            name = "Or".join("".join(map(str.capitalize, code.split("_"))) for code in codes)
            problems[name] = _problem(codes)
            responses[status] = {"$ref": f"#/components/responses/{name}"}


def _header(name: str) -> Json:
    return {"$ref": f"#/components/headers/{name}"}


def _problem(codes: list[ProblemCode]) -> Json:
    headers = [_REQUEST_ID]
    headers += [_RETRY_AFTER] if _RETRIED & set(codes) else []
    headers += [_CHALLENGE] if ProblemCode.UNAUTHENTICATED in codes else []
    schema = {"$ref": ANSWERED + Problem.__name__}
    examples = {str(code): {"value": msgspec.to_builtins(_example(code))} for code in codes}
    return {
        "description": " ".join(f"{code.summary} (`{code}`)." for code in codes),
        "headers": {name: _header(name) for name in headers},
        "content": {MEDIA_TYPE: {"schema": schema, "examples": examples}},
    }


def _example(code: ProblemCode) -> Problem:
    if code is ProblemCode.INVALID_FIELD:
        where, why = "$.node.spec.taints[0].key", "Expected `str`, got `int`"
        return Refusal(code, why, path=where).problem("3f9c0a6d1b2e-1", "/v1/decisions")
    return Refusal(code, code.summary).problem("3f9c0a6d1b2e-1", "/v1/decisions")


def _join(document: Json, found: schemas.Components, problems: Json) -> None:
    def address(old: str) -> str:
        for start, names in ((ASKED, found.asked), (ANSWERED, found.answered)):
            if old.startswith(start):
                return schemas.PREFIX + names[old.removeprefix(start)]
        return old

    for (kind, field), codes in CODES.items():
        found.schemas[found.answered[kind]]["properties"][field]["examples"] = list(codes)
    document["paths"] = schemas.redirect(document["paths"], address)
    parts = document.setdefault("components", {})
    made = parts.get("schemas", {})
    others = {name: one for name, one in made.items() if name not in _OF_FASTAPI}
    parts["schemas"] = others | found.schemas
    parts["responses"] = schemas.redirect(dict(sorted(problems.items())), address)
    parts["headers"] = _HEADERS
    parts["securitySchemes"] = SECURITY_SCHEMES
    document["security"] = SECURITY
