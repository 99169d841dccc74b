"""From a failed answer to the error that it means (metav1.Status)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from bailiff.cluster.errors import (
    AdmissionDeniedError,
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    DisruptionBudgetError,
    DryRunUnsupportedError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ServerError,
    StatusError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
)

_BY_STATUS: dict[int, type[StatusError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: ExpiredError,
    422: InvalidError,
    429: TooManyRequestsError,
}

# The API server has no reason of its own for a failed UID precondition. A delete is answered 409
# with one of these texts (apiserver pkg/registry/rest/delete.go, pkg/storage/interfaces.go), a
# patch 422 with a cause that names metadata.uid (apimachinery pkg/api/validation/objectmeta.go).
_UID_WORDS = ("the UID in the precondition (", "UID in precondition: ")

# How a refusal by a budget is told (kubernetes pkg/registry/core/pod/storage/eviction.go): mostly
# by its cause, policy/v1.DisruptionBudgetCause. That several budgets cover a pod has none, only
# this text. Nor has, before Kubernetes 1.37, that a budget's status cannot be counted on (too many
# evictions not confirmed, or less than none allowed): it is a 403 about the budget. Its kind is in
# the singular there alone; who lacks a right is told of poddisruptionbudgets.
_BUDGET_CAUSE = "DisruptionBudget"
_BUDGETS_WORDS = "more than one PodDisruptionBudget"
_BUDGET_KIND = ("policy", "poddisruptionbudget")

# How admission refuses. The author of a webhook or policy chooses code, reason and details, but
# the API server writes these words before his: apiserver pkg/admission/plugin/webhook/errors/
# statuserror.go (ToStatusErr, and NewDryRunUnsupportedErr), and pkg/admission/plugin/policy/
# validating/dispatcher.go, whose words follow those of a 403 (`pods "a" is forbidden: `).
_DENIED = re.compile(
    r"""admission\ webhook\ "[^"]*"\ denied\ the\ request
    |.*\ is\ forbidden:\ ValidatingAdmissionPolicy\ '[^']*'
        (\ with\ binding\ '[^']*')?\ denied\ request:\ """,
    re.VERBOSE,
)
_NO_DRY_RUN = re.compile(r'admission webhook "[^"]*" does not support dry run')

# Longer waits than this are not believed: 60 s, as docs/runbooks/api-server-busy.md says.
_MAX_RETRY_AFTER = 60.0
# What a proxy says in HTML is cut here.
_MAX_TEXT = 300


class Status(msgspec.Struct, rename="camel"):
    """What the API server writes instead of an object when it refuses."""

    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: dict[str, Any] | None = None


def error_of(what: str, code: int, body: bytes, retry_after: str | None = None) -> StatusError:
    """The error that a failed answer means.

    Args:
        what: the request, as `GET /api/v1/nodes/a`.
        code: HTTP status.
        body: the answer; a metav1.Status if the API server wrote it, anything if a proxy did.
        retry_after: the header of that name.
    """
    return status_error(what, code, _status(body), _header_seconds(retry_after))


def refusal_of(what: str, body: bytes) -> StatusError | None:
    """The error in an answer of 2xx that is a failure all the same; None if it is none.

    The Eviction API answers 201 with a Status of code 500 where several budgets cover the pod.
    """
    status = _status(body)
    if status.status != "Failure":
        return None
    return status_error(what, status.code, status)


def status_error(
    what: str, code: int, status: Status, retry_after: float | None = None
) -> StatusError:
    """The error for a Status that came as a body, or as an ERROR event of a watch."""
    wait = _seconds(status) if retry_after is None else retry_after
    said = ": ".join(part for part in (status.reason, status.message) if part)
    return _class(code, status)(
        f"{what}: {code} {said}".rstrip(),
        status=code,
        reason=status.reason,
        details=status.details,
        retry_after=wait,
    )


def _class(code: int, status: Status) -> type[StatusError]:
    if _DENIED.match(status.message):
        return AdmissionDeniedError
    if code == 400 and _NO_DRY_RUN.match(status.message):
        return DryRunUnsupportedError
    if code == 409 and status.reason == "AlreadyExists":
        return AlreadyExistsError
    if _is_uid_mismatch(code, status):
        return UidMismatchError
    if _is_budget(code, status):
        return DisruptionBudgetError
    if code >= 500:
        return ServerError
    return _BY_STATUS.get(code, StatusError)


def _is_uid_mismatch(code: int, status: Status) -> bool:
    if code == 422:
        return _has_cause(status, "field", "metadata.uid")
    return code == 409 and any(words in status.message for words in _UID_WORDS)


def _is_budget(code: int, status: Status) -> bool:
    if code == 500:
        return _BUDGETS_WORDS in status.message
    if code == 403 and _kind(status) == _BUDGET_KIND:
        return True
    return code in (403, 429) and _has_cause(status, "reason", _BUDGET_CAUSE)


def _kind(status: Status) -> tuple[Any, Any]:
    """Group and kind of what a refusal is about."""
    details = status.details or {}
    return details.get("group"), details.get("kind")


def _has_cause(status: Status, key: str, value: str) -> bool:
    causes = (status.details or {}).get("causes")
    if not isinstance(causes, list):
        # A proxy may write anything.
        return False
    return any(isinstance(one, dict) and one.get(key) == value for one in causes)


def _status(body: bytes) -> Status:
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Status(message=body[:_MAX_TEXT].decode("utf-8", "replace").strip())


def _seconds(status: Status) -> float | None:
    seconds = (status.details or {}).get("retryAfterSeconds")
    if isinstance(seconds, int | float) and seconds > 0:
        return float(min(seconds, _MAX_RETRY_AFTER))
    return None


def _header_seconds(value: str | None) -> float | None:
    # The API server writes whole seconds, never the date that HTTP would allow too.
    text = "" if value is None else value.strip()
    return min(float(text), _MAX_RETRY_AFTER) if text.isascii() and text.isdigit() else None
