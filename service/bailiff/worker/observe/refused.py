"""How the worker's status port says that a caller is not let in."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from bailiff.access import (
    DeniedError,
    OtherMethodError,
    QuotaError,
    UnauthenticatedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from starlette.types import Scope

    from bailiff.access import AccessError

_STATUSES = {
    UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    DeniedError: HTTPStatus.FORBIDDEN,
    QuotaError: HTTPStatus.TOO_MANY_REQUESTS,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
    OtherMethodError: HTTPStatus.METHOD_NOT_ALLOWED,
}


def refused_page(_scope: Scope, error: AccessError) -> Response:
    """The problem (RFC 9457) that the caller gets, by the reasons and codes of the REST face."""
    status = _STATUSES.get(type(error), HTTPStatus.NOT_FOUND)
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status,
        "detail": str(error),
        "code": error.reason,
    }
    return Response(msgspec.json.encode(body), status, _headers(error), "application/problem+json")


def _headers(error: AccessError) -> dict[str, str]:
    if isinstance(error, UnauthenticatedError):
        return {"WWW-Authenticate": error.challenge}
    if isinstance(error, OtherMethodError):
        return {"Allow": ", ".join(error.allowed)}
    return {"Retry-After": str(error.retry_after)} if error.retry_after else {}
