"""The route of the questions: from bytes to bytes, without FastAPI's way through pydantic.

Decoding by pydantic and solving dependencies costs several times what a decision does, so neither
happens here. What FastAPI would do silently less for such a route is refused instead.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import msgspec
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Match

from bailiff.kinds import decode
from bailiff.kinds.turns import decode_in_turns, encode_in_turns
from bailiff.rest_api.wire import Wire
from bailiff.turns import is_long_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.routing import BaseRoute
    from starlette.types import Receive, Scope, Send

    from bailiff.decisions import Plan
    from bailiff.rest_api.services import Services

_ENCODE = msgspec.json.Encoder().encode


class QuestionRoute(APIRoute):
    """Hands the body, decoded, to the operation's one parameter, and encodes the answer.

    The operation gives back the plan for its answer, so that what it costs is known beforehand:
    what takes long is done in a thread, where nobody waits behind it.
    """

    services: ClassVar[Services]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - FastAPI's, passed on
        """Declare an operation.

        Raises:
            TypeError: there is a parameter that is not the body, or a dependency.
        """
        super().__init__(*args, **kwargs)
        check(self)
        self._wire, self._methods = _wire_of(self), frozenset(self.methods or ())

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As FastAPI's, and sooner where the path is this route's to the letter: see check_all."""
        is_ours = scope["path"] == self.path and not scope.get("root_path")
        if is_ours and scope.get("method") in self._methods:
            return Match.FULL, {"endpoint": self.endpoint, "path_params": {}, "route": self}
        return super().matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request whose path is this route's."""
        if scope["method"] not in self._methods:
            await super().handle(scope, receive, send)
            return
        headers = dict(scope["headers"])
        content = await self.services.bodies.answer(self._wire.size, headers, receive, self._answer)
        length = str(len(content)).encode()
        start = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        await send({"type": "http.response.body", "body": content})

    async def _answer(self, body: bytes) -> bytes:
        if is_long_json(len(body)):
            return await asyncio.to_thread(self._answer_long, body)
        plan: Plan[Any] = self.endpoint(decode(body, self._wire.kind))
        if plan.is_quick:
            return _ENCODE(self.services.carry_out(plan))
        return await asyncio.to_thread(self._carry_out, plan)

    def _answer_long(self, body: bytes) -> bytes:
        return self._carry_out(self.endpoint(decode_in_turns(body, self._wire.kind)))

    def _carry_out(self, plan: Plan[Any]) -> bytes:
        return encode_in_turns(self.services.carry_out(plan))


def question_route(given: Services) -> type[QuestionRoute]:
    """The `route_class` of a router whose questions are answered by these services."""
    return type("Route", (QuestionRoute,), {"services": given})


def check_all(routes: Iterable[BaseRoute]) -> None:
    """Look at routes as they are in the end, with what including their routers has added.

    Raises:
        TypeError: as QuestionRoute; or a router of theirs was included under a prefix.
    """
    for context in iter_route_contexts(list(routes)):
        if isinstance(context.original_route, QuestionRoute):
            check(context)
            if context.path != context.original_route.path:
                raise TypeError(f"{context.path}: a route of questions has its path alone")


def check(route: Any) -> None:  # noqa: ANN401 - FastAPI's route, or its view of an included one
    """Refuse an operation to which this route would not give what it asks for.

    Raises:
        TypeError: as QuestionRoute.
    """
    body = [field.name for field in route.dependant.body_params]
    others = [name for name in inspect.signature(route.endpoint).parameters if name not in body]
    if route.dependant.dependencies or others or len(body) != 1:
        raise TypeError(
            f"{route.path}: an operation of this route has one parameter, the body, and no "
            "dependencies: they would be skipped. Guards belong into the middleware."
        )


def _wire_of(route: APIRoute) -> Wire:
    (parameter,) = inspect.signature(route.endpoint).parameters.values()
    (wire,) = (mark for mark in get_args(parameter.annotation) if isinstance(mark, Wire))
    return wire
