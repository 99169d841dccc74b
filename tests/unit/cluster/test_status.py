"""A refusal becomes the error that it means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bailiff.cluster import errors
from bailiff.cluster.status import error_of, refusal_of

UID_DELETE = (
    'Operation cannot be fulfilled on Pod "p": the UID in the precondition (x) does not match '
    "the UID in record (y). The object might have been deleted and then recreated"
)
UID_STORAGE = "StorageError: Precondition failed: UID in precondition: x, UID in object meta: y"
UID_PATCH: dict[str, Any] = {"causes": [{"reason": "FieldValueInvalid", "field": "metadata.uid"}]}
OTHER_FIELD: dict[str, Any] = {
    "causes": [{"reason": "FieldValueInvalid", "field": "metadata.name"}]
}
BUDGET: dict[str, Any] = {
    "causes": [{"reason": "DisruptionBudget", "message": "The disruption budget web needs 2"}]
}
SEVERAL_BUDGETS = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
# How the Eviction API refuses where a budget's status is beyond belief: 403, with the budget's
# group and kind, since Kubernetes 1.37 with the cause, too.
OF_THE_BUDGET: dict[str, Any] = {"name": "web", "group": "policy", "kind": "poddisruptionbudget"}
TOO_BIG = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
# What admission writes; the author's words come after.
WEBHOOK = 'admission webhook "guard.example.com" denied the request: not before noon'
SILENT_WEBHOOK = 'admission webhook "guard.example.com" denied the request without explanation'
POLICY = (
    "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'noon' with binding 'all' denied "
    "request: not before noon"
)
UNBOUND_POLICY = "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'noon' denied request: no"
NO_DRY_RUN = 'admission webhook "guard.example.com" does not support dry run'
WEBHOOK_DOWN = 'Internal error occurred: failed calling webhook "guard.example.com": timed out'
OF_THE_POD: dict[str, Any] = {"name": "web", "kind": "pods"}
BUDGETS_ARE_NOT_YOURS: dict[str, Any] = {
    "name": "web",
    "group": "policy",
    "kind": "poddisruptionbudgets",
}


def status(reason: str = "", message: str = "", **details: Any) -> bytes:
    return json.dumps(
        {"kind": "Status", "reason": reason, "message": message, "details": details}
    ).encode()


@pytest.mark.parametrize(
    ("code", "body", "kind"),
    [
        (400, status("BadRequest"), errors.BadRequestError),
        (401, status("Unauthorized"), errors.UnauthorizedError),
        (403, status("Forbidden"), errors.ForbiddenError),
        (403, status("Forbidden", TOO_BIG, **OF_THE_BUDGET), errors.DisruptionBudgetError),
        (403, status("Forbidden", **BUDGET, **OF_THE_BUDGET), errors.DisruptionBudgetError),
        (403, status("Forbidden", TOO_BIG, **OF_THE_POD), errors.ForbiddenError),
        (403, status("Forbidden", **BUDGETS_ARE_NOT_YOURS), errors.ForbiddenError),
        (404, status("NotFound"), errors.NotFoundError),
        (405, status("MethodNotAllowed"), errors.StatusError),
        (409, status("Conflict"), errors.ConflictError),
        (409, status("AlreadyExists"), errors.AlreadyExistsError),
        (409, status("Conflict", UID_DELETE), errors.UidMismatchError),
        (409, status("Conflict", UID_STORAGE), errors.UidMismatchError),
        (410, status("Expired"), errors.ExpiredError),
        (410, status("Gone"), errors.ExpiredError),
        (415, status("UnsupportedMediaType"), errors.StatusError),
        (422, status("Invalid", **UID_PATCH), errors.UidMismatchError),
        (422, status("Invalid", **OTHER_FIELD), errors.InvalidError),
        (422, status("Invalid", causes="nonsense"), errors.InvalidError),
        (422, status("Invalid", causes=5), errors.InvalidError),
        (429, status("TooManyRequests", causes={"a": 1}), errors.TooManyRequestsError),
        (429, status("", retryAfterSeconds=10**400), errors.TooManyRequestsError),
        (422, status("Invalid"), errors.InvalidError),
        (429, status("TooManyRequests"), errors.TooManyRequestsError),
        (429, status("TooManyRequests", **BUDGET), errors.DisruptionBudgetError),
        (500, status("", SEVERAL_BUDGETS), errors.DisruptionBudgetError),
        (500, status("InternalError"), errors.ServerError),
        (502, b"<html>bad gateway</html>", errors.ServerError),
        (503, b"", errors.ServerError),
        (504, status("Timeout"), errors.ServerError),
        (302, b"", errors.StatusError),
        # Whatever code and details it chooses.
        (400, status("", WEBHOOK), errors.AdmissionDeniedError),
        (401, status("Unauthorized", POLICY), errors.AdmissionDeniedError),
        (403, status("Forbidden", POLICY, **OF_THE_POD), errors.AdmissionDeniedError),
        (403, status("Forbidden", UNBOUND_POLICY, **OF_THE_POD), errors.AdmissionDeniedError),
        (404, status("NotFound", WEBHOOK, **OF_THE_POD), errors.AdmissionDeniedError),
        (409, status("Conflict", f"{WEBHOOK} {UID_DELETE}"), errors.AdmissionDeniedError),
        (409, status("AlreadyExists", SILENT_WEBHOOK), errors.AdmissionDeniedError),
        (410, status("Gone", WEBHOOK), errors.AdmissionDeniedError),
        (422, status("Invalid", POLICY, **UID_PATCH), errors.AdmissionDeniedError),
        (429, status("TooManyRequests", WEBHOOK, **BUDGET), errors.AdmissionDeniedError),
        (500, status("InternalError", WEBHOOK), errors.AdmissionDeniedError),
        (503, status("", WEBHOOK), errors.AdmissionDeniedError),
        # No word of admission's.
        (400, status("BadRequest", NO_DRY_RUN), errors.DryRunUnsupportedError),
        (404, status("NotFound", f"no such {WEBHOOK}"), errors.NotFoundError),
        (500, status("InternalError", WEBHOOK_DOWN), errors.ServerError),
    ],
)
def test_which_error(code: int, body: bytes, kind: type[errors.StatusError]) -> None:
    error = error_of("GET /x", code, body)
    assert type(error) is kind
    assert error.status == code


def test_it_says_what_was_asked_and_what_was_answered() -> None:
    error = error_of("GET /x", 404, status("NotFound", 'pods "a" not found', name="a"))
    assert str(error) == 'GET /x: 404 NotFound: pods "a" not found'
    assert (error.message, error.reason) == (str(error), "NotFound")
    assert error.details == {"name": "a"}


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        (None, {}, None),
        ("5", {}, 5.0),
        (" 5 ", {}, 5.0),
        (None, {"retryAfterSeconds": 7}, 7.0),
        ("5", {"retryAfterSeconds": 7}, 5.0),
        ("0", {}, 0.0),
        ("-1", {}, None),
        ("soon", {}, None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", {}, None),
        ("61", {}, 60.0),
        ("99999999999999999999", {}, 60.0),
        (None, {"retryAfterSeconds": 3600}, 60.0),
        (None, {"retryAfterSeconds": "x"}, None),
        (None, {"retryAfterSeconds": -3}, None),
        # What separates fields to str is no space to float.
        ("7\x1f", {}, 7.0),
    ],
)
def test_when_to_come_back(
    header: str | None, details: dict[str, Any], seconds: float | None
) -> None:
    assert error_of("GET /x", 429, status(**details), header).retry_after == seconds


# Python takes U+001F for a blank, and float() does not.
@example(429, b"", "0\x1f")
@given(st.integers(300, 599), st.binary(max_size=600), st.none() | st.text(max_size=20))
def test_any_answer_becomes_an_error(code: int, body: bytes, header: str | None) -> None:
    error = error_of("GET /x", code, body, header)
    assert error.status == code
    assert len(str(error)) < 1000 or error.reason


def test_every_error_is_drawn_in_the_docstring() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert len(kinds) > 10
    assert [k.__name__ for k in kinds if k.__name__ not in (errors.__doc__ or "")] == []


def test_the_words_of_the_budget() -> None:
    refused = error_of("POST /x", 429, status("TooManyRequests", "Cannot evict", **BUDGET))
    assert isinstance(refused, errors.DisruptionBudgetError)
    assert refused.budget == "The disruption budget web needs 2"
    cause = {"reason": "DisruptionBudget", "message": "it is negative"}
    negative: dict[str, Any] = {"causes": [cause]}
    forbidden = error_of("POST /x", 403, status("Forbidden", **negative))
    assert isinstance(forbidden, errors.DisruptionBudgetError)
    assert forbidden.budget == "it is negative"
    without_cause = error_of("POST /x", 403, status("Forbidden", TOO_BIG, **OF_THE_BUDGET))
    assert isinstance(without_cause, errors.DisruptionBudgetError)
    assert TOO_BIG in without_cause.budget
    several = error_of("POST /x", 500, status("", SEVERAL_BUDGETS))
    assert isinstance(several, errors.DisruptionBudgetError)
    assert SEVERAL_BUDGETS in several.budget


def test_a_failure_in_an_accepted_answer() -> None:
    # What the Eviction API answers with 201, at Kubernetes 1.37 still.
    body = {"kind": "Status", "status": "Failure", "message": SEVERAL_BUDGETS, "code": 500}
    refused = refusal_of("POST /x", json.dumps(body).encode())
    assert type(refused) is errors.DisruptionBudgetError
    assert refused.status == 500
    success = {"kind": "Status", "status": "Success", "code": 201}
    assert refusal_of("POST /x", json.dumps(success).encode()) is None
