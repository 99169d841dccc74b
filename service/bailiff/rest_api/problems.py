"""Failed requests as RFC 9457 problem details, each with a stable code.

And from what is raised to the problem that is answered: FastAPI's exception handlers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bailiff.decisions import FactsError
from bailiff.kinds import DecodeError
from bailiff.kinds.meta import Value
from bailiff.lookup import (
    BusyError,
    ForbiddenError,
    LookUpError,
    MissingError,
    TooManyError,
    UnavailableError,
)
from bailiff.serving import OverloadedError

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from fastapi import Request

MEDIA_TYPE = "application/problem+json"
# Where an operation's response names its problems.
PROBLEMS = "x-problems"
# Where the middleware puts the request id, as bytes, in a request's scope.
REQUEST_ID = "bailiff.request_id"
# What pydantic puts before the words of a validator of ours.
_OURS = "Value error, "


class ProblemCode(StrEnum):
    """What went wrong, for programs. Codes are never renamed; new ones may come."""

    status: HTTPStatus
    summary: str

    def __new__(cls, code: str, status: int, summary: str) -> ProblemCode:
        """A code with the HTTP status that it is answered with, and a title for people."""
        made = str.__new__(cls, code)
        made._value_ = code
        made.status, made.summary = HTTPStatus(status), summary
        return made

    MALFORMED_REQUEST = "malformed_request", 400, "The request is not HTTP"
    MALFORMED_BODY = "malformed_body", 400, "The body is not JSON"
    WRONG_SHAPE = "wrong_shape", 400, "The body has not the shape that kube-scheduler sends"
    UNAUTHENTICATED = "unauthenticated", 401, "Nobody knows who asks"
    FORBIDDEN = "forbidden", 403, "The caller may not ask this"
    NOT_FOUND = "not_found", 404, "Not found"
    METHOD_NOT_ALLOWED = "method_not_allowed", 405, "Method not allowed"
    SLOW_BODY = "slow_body", 408, "The body did not arrive in time"
    BODY_TOO_LARGE = "body_too_large", 413, "The body is too large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type", 415, "Unsupported media type"
    MISDIRECTED_REQUEST = "misdirected_request", 421, "The host asked for is another"
    INVALID_FIELD = "invalid_field", 422, "A field is invalid"
    TOO_MANY_OBJECTS = "too_many_objects", 422, "The cluster has more than one answer may hold"
    TOO_MANY_REQUESTS = "too_many_requests", 429, "One caller asks too much"
    HEAD_TOO_LARGE = "head_too_large", 431, "The head is too large"
    INTERNAL = "internal", 500, "Internal error"
    CLUSTER_FORBIDDEN = "cluster_forbidden", 502, "The cluster forbids reading this"
    CLUSTER_FAILED = "cluster_failed", 502, "The cluster did not answer as it should"
    AUTHENTICATION_UNAVAILABLE = (
        "authentication_unavailable",
        503,
        "The cluster does not say who asks",
    )
    NO_CLUSTER = "no_cluster", 503, "No cluster to read"
    CLUSTER_UNAVAILABLE = "cluster_unavailable", 503, "The cluster is not reachable"
    OVERLOADED = "overloaded", 503, "Too many requests at once"
    STOPPING = "stopping", 503, "Bailiff is stopping"


# What goes wrong in a cluster and is not here: it did not answer as it should.
_OF_CLUSTER: dict[type[Exception], ProblemCode] = {
    MissingError: ProblemCode.NOT_FOUND,
    ForbiddenError: ProblemCode.CLUSTER_FORBIDDEN,
    TooManyError: ProblemCode.TOO_MANY_OBJECTS,
    UnavailableError: ProblemCode.CLUSTER_UNAVAILABLE,
    BusyError: ProblemCode.OVERLOADED,
    OverloadedError: ProblemCode.OVERLOADED,
}
# Seconds after which to try again what may then be answered.
_RETRY_AFTER = {ProblemCode.CLUSTER_UNAVAILABLE: "5", ProblemCode.OVERLOADED: "1"}


class FieldError(Value, frozen=True):
    """One thing wrong with the request.

    Attributes:
        path: where in the body, as `$.pod.spec.tolerations[0].tolerationSeconds`; for a parameter
            its name, as `path.name` or `query.explain`.
        reason: what was found and what is allowed.
    """

    path: str
    reason: str


class Problem(Value, frozen=True):
    """A request that could not be answered (RFC 9457).

    Attributes:
        type: URI of the kind of problem: `urn:bailiff:problem:` and the code.
        title: the kind of problem, for people.
        status: the HTTP status.
        detail: what happened this time and what to do about it.
        code: the kind of problem, for programs; stable.
        request_id: as in the header X-Request-Id; quote it when asking for help.
        instance: the path that was asked.
        errors: the fields at fault, where the request's content is.
    """

    type: str
    title: str
    status: int
    detail: str
    code: ProblemCode
    request_id: str
    instance: str = ""
    errors: tuple[FieldError, ...] = ()


@dataclass(eq=False)
class Refusal(Exception):  # noqa: N818 - it is an answer, and not always somebody's error
    """Raised where a request cannot be answered; becomes a Problem.

    Attributes:
        code: the kind of problem.
        detail: what happened and what to do about it.
        path: the field or parameter at fault.
        headers: to add to the answer, such as Retry-After.
    """

    code: ProblemCode
    detail: str
    path: str | None = field(default=None, kw_only=True)
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def problem(self, request_id: str, instance: str) -> Problem:
        """The body of the answer."""
        code, detail = self.code, self.detail
        errors: tuple[FieldError, ...] = ()
        if self.path is not None:
            errors = (FieldError(path=self.path, reason=detail),)
            detail = f"{self.path}: {detail}"
        return Problem(
            type=f"urn:bailiff:problem:{code}",
            title=code.summary,
            status=code.status.value,
            detail=detail,
            code=code,
            request_id=request_id,
            instance=instance,
            errors=errors,
        )


def problem_responses(*codes: ProblemCode) -> dict[int | str, dict[str, Any]]:
    """For `responses` of an operation that may answer with these problems, besides `internal`.

    By status, in the form that document.py completes.
    """
    found: dict[int | str, dict[str, Any]] = {}
    for code in (*codes, ProblemCode.INTERNAL):
        found.setdefault(code.status.value, {PROBLEMS: []})[PROBLEMS].append(code.value)
    return found


def answer(scope: MutableMapping[str, Any], refusal: Refusal) -> Response:
    """The problem that a request of this scope gets."""
    return Response(
        msgspec.json.encode(refusal.problem(scope[REQUEST_ID].decode(), scope["path"])),
        status_code=refusal.code.status,
        headers=dict(refusal.headers),
        media_type=MEDIA_TYPE,
    )


async def _handle(request: Request, error: Exception) -> Response:
    return answer(request.scope, _refusal(error))


# What nobody here knows goes on to the middleware, which logs it.
_KINDS = (
    Refusal,
    DecodeError,
    FactsError,
    LookUpError,
    OverloadedError,
    RequestValidationError,
    HTTPException,
)
HANDLERS: dict[int | type[Exception], Any] = dict.fromkeys(_KINDS, _handle)


def _refusal(error: Exception) -> Refusal:
    match error:
        case Refusal():
            return error
        case DecodeError(malformed=True):
            return Refusal(ProblemCode.MALFORMED_BODY, error.reason, path=error.path)
        case DecodeError() | FactsError():
            return Refusal(ProblemCode.INVALID_FIELD, error.reason, path=error.path)
        case RequestValidationError():
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            said = first["msg"].removeprefix(_OURS)
            return Refusal(ProblemCode.INVALID_FIELD, said, path=where)
        case LookUpError() | OverloadedError():
            return _of_what_it_works_with(error)
        case HTTPException(status_code=404):
            return Refusal(ProblemCode.NOT_FOUND, "there is nothing at this path: see /docs")
        case HTTPException(status_code=405):
            return _other_method((error.headers or {}).get("Allow", ""))
    raise error  # nobody here says so: a fault


def _of_what_it_works_with(error: LookUpError | OverloadedError) -> Refusal:
    code = _OF_CLUSTER.get(type(error), ProblemCode.CLUSTER_FAILED)
    seconds = _RETRY_AFTER.get(code)
    return Refusal(code, str(error), headers={"Retry-After": seconds} if seconds else {})


def _other_method(allowed: str) -> Refusal:
    methods = set(allowed.split(", "))
    names = ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))
    detail = f"this path answers {names}"
    return Refusal(ProblemCode.METHOD_NOT_ALLOWED, detail, headers={"Allow": names})
