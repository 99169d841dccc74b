"""Failed requests as RFC 9457 problem details, each with a stable code."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPE = "application/problem+json"
# Where an operation's response names its problems.
PROBLEMS = "x-problems"
_NO_HEADERS: Mapping[str, str] = {}


class ProblemCode(StrEnum):
    """What went wrong, for programs. Codes are never renamed; new ones may come."""

    MALFORMED_REQUEST = "malformed_request"
    MALFORMED_BODY = "malformed_body"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    SLOW_BODY = "slow_body"
    BODY_TOO_LARGE = "body_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    INVALID_FIELD = "invalid_field"
    TOO_MANY_OBJECTS = "too_many_objects"
    HEAD_TOO_LARGE = "head_too_large"
    INTERNAL = "internal"
    CLUSTER_FORBIDDEN = "cluster_forbidden"
    CLUSTER_FAILED = "cluster_failed"
    NO_CLUSTER = "no_cluster"
    CLUSTER_UNAVAILABLE = "cluster_unavailable"
    OVERLOADED = "overloaded"
    STOPPING = "stopping"


STATUS: Mapping[ProblemCode, tuple[HTTPStatus, str]] = {
    ProblemCode(code): (status, title)
    for code, status, title in (
        ("malformed_request", HTTPStatus.BAD_REQUEST, "The request is not HTTP"),
        ("malformed_body", HTTPStatus.BAD_REQUEST, "The body is not JSON"),
        ("not_found", HTTPStatus.NOT_FOUND, "Not found"),
        ("method_not_allowed", HTTPStatus.METHOD_NOT_ALLOWED, "Method not allowed"),
        ("slow_body", HTTPStatus.REQUEST_TIMEOUT, "The body did not arrive in time"),
        ("body_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large"),
        ("unsupported_media_type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Unsupported media type"),
        ("invalid_field", HTTPStatus.UNPROCESSABLE_ENTITY, "A field is invalid"),
        (
            "too_many_objects",
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "The cluster has more than one answer may hold",
        ),
        ("head_too_large", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head is too large"),
        ("internal", HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error"),
        ("cluster_forbidden", HTTPStatus.BAD_GATEWAY, "The cluster forbids reading this"),
        ("cluster_failed", HTTPStatus.BAD_GATEWAY, "The cluster did not answer as it should"),
        ("no_cluster", HTTPStatus.SERVICE_UNAVAILABLE, "No cluster to read"),
        ("cluster_unavailable", HTTPStatus.SERVICE_UNAVAILABLE, "The cluster is not reachable"),
        ("overloaded", HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests at once"),
        ("stopping", HTTPStatus.SERVICE_UNAVAILABLE, "Bailiff is stopping"),
    )
}


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


class Refusal(Exception):  # noqa: N818 - it is an answer, and not always somebody's error
    """Raised where a request cannot be answered; becomes a Problem."""

    def __init__(
        self,
        code: ProblemCode,
        detail: str,
        *,
        path: str | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        """Say why.

        Args:
            code: the kind of problem.
            detail: what happened and what to do about it.
            path: the field or parameter at fault.
            headers: to add to the answer, such as Retry-After.
        """
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.path = path
        self.headers = headers

    def problem(self, request_id: str, instance: str) -> Problem:
        """The body of the answer."""
        status, title = STATUS[self.code]
        errors: tuple[FieldError, ...] = ()
        if self.path is not None:
            errors = (FieldError(path=self.path, reason=self.detail),)
        return Problem(
            type=f"urn:bailiff:problem:{self.code}",
            title=title,
            status=status.value,
            detail=self.detail if self.path is None else f"{self.path}: {self.detail}",
            code=self.code,
            request_id=request_id,
            instance=instance,
            errors=errors,
        )


def problem_responses(*codes: ProblemCode) -> dict[int | str, dict[str, Any]]:
    """For `responses` of an operation: by status, in the form that document.py completes.

    Args:
        codes: the problems that it may answer with, beyond `internal`.
    """
    found: dict[int | str, dict[str, Any]] = {}
    for code in (*codes, ProblemCode.INTERNAL):
        found.setdefault(STATUS[code][0].value, {PROBLEMS: []})[PROBLEMS].append(code.value)
    return found
