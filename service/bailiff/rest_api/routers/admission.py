"""What kube-apiserver's admission webhooks call: one operation for each hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import APIRouter, Body

from bailiff.kinds import decode
from bailiff.kinds.admission_review import AdmissionReview, ReviewedAdmission
from bailiff.rest_api.admission_route import TIMEOUT_PATTERN, admission_route, answer_to
from bailiff.rest_api.examples.admission import example_of, review_of
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.rest_api.services import Services
    from bailiff.webhooks import Admission, Hook

PREFIX = "/admission/v1"
_PROBLEMS = problem_responses(
    ProblemCode.MALFORMED_BODY,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.MISDIRECTED_REQUEST,
    ProblemCode.INVALID_FIELD,
    ProblemCode.OVERLOADED,
)
# Plurals of several words, as the chart writes them.
_KINDS = {"devicetaintrules": "DeviceTaintRules", "resourceslices": "ResourceSlices"}
_TIMEOUT = {
    "name": "timeout",
    "in": "query",
    "required": False,
    "description": "Until when kube-apiserver waits, as it adds it: a duration, as `10s`.",
    "schema": {"type": "string", "pattern": TIMEOUT_PATTERN},
}


def admission_router(services: Services, admission: Admission) -> APIRouter:
    """An operation for every hook."""
    router = APIRouter(tags=["Admission"], route_class=admission_route(services, admission))
    for hook in admission.hooks:
        router.post(f"{PREFIX}/{hook.path}", **_told(hook))(_operation(hook))
    return router


def hook_paths(admission: Admission | None) -> frozenset[str]:
    """The paths of these operations."""
    return frozenset(f"{PREFIX}/{path}" for path in (admission.paths if admission else ()))


def _operation(hook: Hook) -> Callable[[AdmissionReview], Hook]:
    """What its route is to ask: the operation gives back the hook, whatever the review."""

    def operation(review: AdmissionReview) -> Hook:  # noqa: ARG001 - for the document
        return hook

    shown: dict[str, Any] = {
        "review": {"summary": "As kube-apiserver asks", "value": review_of(hook)}
    }
    body = Body(openapi_examples=shown)
    operation.__annotations__ = {
        "review": Annotated[AdmissionReview, Wire(AdmissionReview), body],
        "return": Annotated[ReviewedAdmission, Wire(ReviewedAdmission)],
    }
    return operation


def _answer(hook: Hook) -> Any:  # noqa: ANN401 - JSON
    review = decode(msgspec.json.encode(review_of(hook)), AdmissionReview)
    return msgspec.to_builtins(answer_to(review, example_of(hook).outcome))


def _told(hook: Hook) -> dict[str, Any]:
    first, plural = hook.path.split("/")
    name = first + _KINDS.get(plural, plural.capitalize())
    return {
        "operation_id": name,
        "name": name,
        "summary": hook.summary,
        "description": hook.description,
        "response_description": "The same AdmissionReview, answered.",
        "responses": {
            200: {"content": {"application/json": {"example": _answer(hook)}}},
            **_PROBLEMS,
        },
        "openapi_extra": {"parameters": [_TIMEOUT]},
    }
