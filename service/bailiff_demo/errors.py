"""Refusals, as kube-apiserver words them (apimachinery/pkg/api/errors/errors.go)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource

# More causes than this tell nobody anything.
MAX_CAUSES = 50


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why an object is invalid.

    Attributes:
        reason: the machine's word, as `FieldValueInvalid`.
        field: where, as `spec.tolerations[0].effect`.
        message: what was found and what is allowed.
    """

    reason: str
    field: str
    message: str

    @classmethod
    def invalid(cls, field: str, value: object, detail: str) -> Cause:
        """A value that is not allowed."""
        return cls("FieldValueInvalid", field, f"Invalid value: {quote(value)}: {detail}")

    @classmethod
    def required(cls, field: str, detail: str = "") -> Cause:
        """A value that is missing."""
        return cls("FieldValueRequired", field, f"Required value: {detail}".removesuffix(": "))

    @classmethod
    def not_supported(cls, field: str, value: object, allowed: Sequence[str]) -> Cause:
        """A value that is none of the allowed ones."""
        values = ", ".join(f'"{a}"' for a in allowed)
        message = f"Unsupported value: {quote(value)}: supported values: {values}"
        return cls("FieldValueNotSupported", field, message)

    @classmethod
    def forbidden(cls, field: str, detail: str) -> Cause:
        """A field that may not be set or changed."""
        return cls("FieldValueForbidden", field, f"Forbidden: {detail}")

    @classmethod
    def duplicate(cls, field: str, value: object) -> Cause:
        """A value that is there twice."""
        return cls("FieldValueDuplicate", field, f"Duplicate value: {quote(value)}")

    @classmethod
    def too_many(cls, field: str, count: int, limit: int) -> Cause:
        """A longer list than is allowed."""
        return cls(
            "FieldValueTooMany", field, f"Too many: {count}: must have at most {limit} items"
        )


def quote(value: object) -> str:
    """A value as Go's %q and %v would put it into a message."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class ApiError(Exception):
    """The server refuses.

    Attributes:
        code: HTTP status.
        reason: Kubernetes' machine-readable word, as `NotFound`.
        details: of the Status object; None for none.
        retry_after: seconds for the Retry-After header; None for none.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: JsonObject | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after

    def status(self) -> JsonObject:
        """The Status object."""
        details = {**(self.details or {}), "retryAfterSeconds": self.retry_after}
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": {k: v for k, v in details.items() if v},
            "code": self.code,
        }
        return {k: v for k, v in status.items() if v or k == "metadata"}


def success(**details: Any) -> JsonObject:  # noqa: ANN401 - any JSON value
    """The Status object of an operation that has nothing else to return."""
    status: JsonObject = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else status


def _named(resource: Resource, name: str) -> JsonObject:
    return {"name": name, "group": resource.group, "kind": resource.plural}


def not_found(resource: Resource, name: str) -> ApiError:
    """No such object."""
    return ApiError(404, "NotFound", f'{resource.id} "{name}" not found', _named(resource, name))


def already_exists(resource: Resource, name: str) -> ApiError:
    """There is one of that name."""
    message = f'{resource.id} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _named(resource, name))


def conflict(resource: Resource, name: str, why: str, kind: str = "") -> ApiError:
    """Not against the state that the object has; `kind` is named instead of the resource."""
    message = f'Operation cannot be fulfilled on {kind or resource.id} "{name}": {why}'
    return ApiError(409, "Conflict", message, _named(resource, name))


def stale(resource: Resource, name: str) -> ApiError:
    """Another write came first."""
    why = (
        "the object has been modified; please apply your changes to the latest version and try "
        "again"
    )
    return conflict(resource, name, why)


def forbidden(resource: Resource, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    """Against a rule of the cluster."""
    subject = f'{resource.id} "{name}"' if name else resource.id
    details = {**_named(resource, name), "causes": causes_of(causes)}
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """An object that breaks rules."""
    shown = list(causes)[:MAX_CAUSES]
    texts = [f"{c.field}: {c.message}" for c in shown]
    text = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    subject = f"{kind}.{group}" if group else kind
    details = {"name": name, "group": group, "kind": kind, "causes": causes_of(shown)}
    return ApiError(422, "Invalid", f'{subject} "{name}" is invalid: {text}', details)


def invalid_option(options: str, cause: Cause) -> ApiError:
    """A query parameter that is not allowed; `options` as `ListOptions`."""
    return invalid("meta.k8s.io", options, "", [cause])


def unauthorized() -> ApiError:
    """Without the token, or with another."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def unreachable(address: str) -> ApiError:
    """Nobody listens where the API server is to pass a request on to."""
    message = f"error trying to reach service: dial tcp {address}: connect: connection refused"
    return ApiError(503, "ServiceUnavailable", message)


def bad_request(message: str) -> ApiError:
    """Not understood."""
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    """Too old a version."""
    return ApiError(410, "Expired", message)


def unsupported_media_type(allowed: Sequence[str]) -> ApiError:
    """A body in another language."""
    known = ", ".join(allowed)
    message = f"the body of the request was in an unknown format - accepted media types: {known}"
    return ApiError(415, "UnsupportedMediaType", message)


def not_acceptable() -> ApiError:
    """The client understands none of our languages."""
    message = "only the following media types are accepted: application/json"
    return ApiError(406, "NotAcceptable", message)


def too_large(limit: int) -> ApiError:
    """More bytes than a request may have."""
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)


def causes_of(causes: Sequence[Cause]) -> list[JsonObject]:
    """As details of a Status list them."""
    listed = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    return [{k: v for k, v in cause.items() if v} for cause in listed]
