"""From what is raised to the problem that is answered: FastAPI's exception handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bailiff.decisions import FactsError
from bailiff.kinds import DecodeError
from bailiff.rest_api.problems import MEDIA_TYPE, STATUS, ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, MutableMapping
    from typing import Any

    from fastapi import Request

REQUEST_ID = "bailiff.request_id"
# What pydantic puts before the words of a validator of ours.
_OURS = "Value error, "


def answer(scope: MutableMapping[str, Any], refusal: Refusal) -> Response:
    """The problem that a request gets.

    Args:
        scope: of the request; the outermost middleware has put the request id into it.
        refusal: what it says.
    """
    problem = refusal.problem(scope[REQUEST_ID], scope["path"])
    return Response(
        msgspec.json.encode(problem),
        status_code=STATUS[refusal.code][0],
        headers=dict(refusal.headers),
        media_type=MEDIA_TYPE,
    )


def _refusal(error: Refusal) -> Refusal:
    return error


def _of_the_body(error: DecodeError | FactsError) -> Refusal:
    malformed = isinstance(error, DecodeError) and error.malformed
    code = ProblemCode.MALFORMED_BODY if malformed else ProblemCode.INVALID_FIELD
    return Refusal(code, error.reason, path=error.path)


def _of_the_parameters(error: RequestValidationError) -> Refusal:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return Refusal(ProblemCode.INVALID_FIELD, first["msg"].removeprefix(_OURS), path=where)


def _of_the_route(error: HTTPException) -> Refusal:
    if error.status_code == STATUS[ProblemCode.METHOD_NOT_ALLOWED][0]:
        return _other_method(error)
    if error.status_code != STATUS[ProblemCode.NOT_FOUND][0]:
        raise error  # nobody here says so: a fault
    return Refusal(ProblemCode.NOT_FOUND, "there is nothing at this path: see /docs")


def _other_method(error: HTTPException) -> Refusal:
    allowed = set((error.headers or {}).get("Allow", "").split(", "))
    if "GET" in allowed:
        allowed.add("HEAD")
    names = ", ".join(sorted(allowed))
    detail = f"this path answers {names}"
    return Refusal(ProblemCode.METHOD_NOT_ALLOWED, detail, headers={"Allow": names})


def _handler(
    refuse: Callable[[Any], Refusal],
) -> Callable[[Request, Any], Coroutine[Any, Any, Response]]:
    async def handle(request: Request, error: Any) -> Response:  # noqa: ANN401 - as below
        return answer(request.scope, refuse(error))

    return handle


# What nobody here knows goes on to the outermost middleware, which logs it.
HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    Refusal: _handler(_refusal),
    DecodeError: _handler(_of_the_body),
    FactsError: _handler(_of_the_body),
    RequestValidationError: _handler(_of_the_parameters),
    HTTPException: _handler(_of_the_route),
}
