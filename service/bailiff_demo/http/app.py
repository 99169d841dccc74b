"""The Starlette application: a route for everything that is served, and refusals as Status."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff_demo import errors
from bailiff_demo.errors import ApiError
from bailiff_demo.http import discovery
from bailiff_demo.http.answers import json_response
from bailiff_demo.http.verbs import Verbs
from bailiff_demo.resources import RESOURCES, Resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.registry import Registry
    from bailiff_demo.settings import DemoSettings

_NO_SUCH_PATH = ApiError(
    404,
    "NotFound",
    "the server could not find the requested resource",
    # kubectl debug looks for details, and panics without them.
    {"causes": [{"reason": "UnexpectedServerResponse", "message": "404 page not found"}]},
)
_NO_SUCH_METHOD = ApiError(
    405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
)
_OUR_FAULT = ApiError(500, "InternalError", "Internal error occurred: see the log")
_METHODS = {"get": "GET", "update": "PUT", "patch": "PATCH", "create": "POST"}


def create_app(registry: Registry, settings: DemoSettings) -> Starlette:
    """The API of one cluster."""
    verbs = Verbs(registry, settings)
    app = Starlette(
        routes=[
            *(Route(f"/{path}", _healthy) for path in ("healthz", "livez", "readyz")),
            *(Route(path, discovery.describe) for path in discovery.PATHS),
            *(route for resource in RESOURCES for route in _routes(resource, verbs)),
        ],
        exception_handlers={
            ApiError: _refuse,
            HTTPException: _refuse_request,
            ClientDisconnect: _answer_nobody,
            Exception: _fail,
        },
    )
    app.router.redirect_slashes = False
    return app


def _routes(resource: Resource, verbs: Verbs) -> Iterator[Route]:
    root = f"{resource.root}/{resource.plural}"
    if resource.namespaced:
        yield Route(root, partial(verbs.list_or_watch, resource), methods=["GET"])
        root = f"{resource.root}/namespaces/{{namespace}}/{resource.plural}"
    yield Route(root, partial(verbs.list_or_watch, resource), methods=["GET"])
    yield Route(root, partial(verbs.create, resource), methods=["POST"])
    one = f"{root}/{{name}}"
    yield Route(one, partial(verbs.get_or_watch, resource), methods=["GET"])
    yield Route(one, partial(verbs.update, resource, ""), methods=["PUT"])
    yield Route(one, partial(verbs.patch, resource, ""), methods=["PATCH"])
    yield Route(one, partial(verbs.delete, resource), methods=["DELETE"])
    for name, subresource in resource.subresources.items():
        for verb in subresource.verbs:
            endpoint = partial(verbs.subresource(name, verb), resource, name)
            yield Route(f"{one}/{name}", endpoint, methods=[_METHODS[verb]])
            if name == "proxy":
                below = f"{one}/{name}/{{path:path}}"
                yield Route(below, endpoint, methods=[_METHODS[verb]])


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok")


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - what it is registered for
    headers = {"retry-after": str(error.retry_after)} if error.retry_after else {}
    return json_response(error.status(), error.code, headers)


async def _refuse_request(request: Request, error: Exception) -> Response:
    """What Starlette refuses by itself: paths and methods."""
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    known = {404: _NO_SUCH_PATH, 405: _NO_SUCH_METHOD}
    refusal = known.get(error.status_code) or errors.bad_request(error.detail)
    return await _refuse(request, refusal)


async def _answer_nobody(_request: Request, _error: Exception) -> Response:
    """Nobody is there any more to read this."""
    return Response(status_code=400)


async def _fail(request: Request, _error: Exception) -> Response:
    """A fault of ours. Starlette raises it again after the answer, and the server logs it."""
    return await _refuse(request, _OUR_FAULT)
