"""How the REST face says that a caller is not let in, and which operations say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.access import (
    AccessError,
    DeniedError,
    MisnamedError,
    OtherMethodError,
    QuotaError,
    UnauthenticatedError,
    UnavailableError,
)
from bailiff.rest_api.problems import ProblemCode, Refusal, answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import Scope

    from bailiff.access import Rule

# Of the OpenAPI document: as Swagger UI's "Authorize" needs it. For all operations at once, since
# generators take what one operation names as needed by it, though it may be left out.
SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {}]
SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": (
            "A token of `--token-auth-file`, or one that the cluster knows and that is meant for "
            "`bailiff`: `kubectl create token NAME --audience bailiff`. Needed where Bailiff was "
            "started to ask who asks."
        ),
    }
}
_CODES: Mapping[type[AccessError], ProblemCode] = {
    UnauthenticatedError: ProblemCode.UNAUTHENTICATED,
    DeniedError: ProblemCode.FORBIDDEN,
    UnavailableError: ProblemCode.AUTHENTICATION_UNAVAILABLE,
    QuotaError: ProblemCode.TOO_MANY_REQUESTS,
}
_OF_KNOWN = (
    ProblemCode.UNAUTHENTICATED,
    ProblemCode.TOO_MANY_REQUESTS,
    ProblemCode.AUTHENTICATION_UNAVAILABLE,
)
_EXAMPLE: Mapping[str, str] = {"namespace": "default", "name": "web-0"}


def refuse(scope: Scope, error: AccessError) -> Response:
    """The problem that the caller gets."""
    return answer(scope, _refusal(error))


def _refusal(error: AccessError) -> Refusal:
    match error:
        case MisnamedError():
            return Refusal(ProblemCode.INVALID_FIELD, str(error), path=f"path.{error.parameter}")
        case OtherMethodError():
            headers = {"Allow": ", ".join(error.allowed)}
            return Refusal(ProblemCode.METHOD_NOT_ALLOWED, str(error), headers=headers)
        case UnauthenticatedError():
            headers = {"WWW-Authenticate": error.challenge}
        case _:
            headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    code = _CODES.get(type(error), ProblemCode.NOT_FOUND)
    hint = ": see /docs" if code is ProblemCode.NOT_FOUND else ""
    return Refusal(code, f"{error}{hint}", headers=headers)


def problems_of(rule: Rule) -> tuple[ProblemCode, ...]:
    """What the guard may answer by a rule; nothing, where it lets everybody in."""
    if rule.needs is None:
        return ()
    return (*_OF_KNOWN, ProblemCode.FORBIDDEN) if rule.needs(_EXAMPLE) else _OF_KNOWN
