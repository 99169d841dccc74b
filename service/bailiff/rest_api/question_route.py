"""The route of the questions: from bytes to bytes, without FastAPI's way through pydantic.

Decoding by pydantic and solving dependencies costs several times what a decision does, so neither
happens here. What FastAPI would do silently less for such a route is refused instead.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import msgspec
from fastapi.routing import APIRoute, iter_route_contexts

from bailiff.kinds import decode
from bailiff.kinds.turns import decode_in_turns, encode_in_turns
from bailiff.rest_api.wire import Wire
from bailiff.serving import OverloadedError
from bailiff.serving.admission import TURN
from bailiff.turns import WaitedTooLongError, is_long_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from bailiff.decisions import Plan
    from bailiff.rest_api.services import Services

_ENCODE = msgspec.json.Encoder().encode
# Bytes of an answer that a connection takes at once. Of a longer one the client has to read the
# most before the request is over, and its bytes are free for others.
_LONG = 64 * 1024


class QuestionRoute(APIRoute):
    """Hands the body, decoded, to the operation's one parameter, and encodes the answer.

    The operation gives back the plan for its answer, so that what it costs is known beforehand:
    what takes long is done in a thread, where nobody waits behind it. Such routes belong behind
    QuestionsFirst, which refuses an operation that asks for more.
    """

    services: ClassVar[Services]

    @cached_property
    def wire(self) -> Wire:
        """How its question is asked."""
        (parameter,) = inspect.signature(self.endpoint).parameters.values()
        (wire,) = (mark for mark in get_args(parameter.annotation) if isinstance(mark, Wire))
        return wire

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request whose path is this route's."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        headers = dict(scope["headers"])
        body = await self.services.bodies.read(self.wire.size, headers, receive)
        gate = self.services.gate
        # A body that came later: this is another turn of the event loop, which may be full.
        if scope.get(TURN) != gate.number and not (is_long_json(len(body)) or gate.enter()):
            await self._wait(scope)
        content = await self._answer(body)
        if len(content) > _LONG:
            self.services.budget.check_room(len(content))
        length = b"%d" % len(content)
        start = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        if len(content) > _LONG:
            await send({"type": "http.response.body", "body": content, "more_body": True})
            content = b""
        await send({"type": "http.response.body", "body": content})

    async def _wait(self, scope: Scope) -> None:
        client = scope.get("client") or ("",)
        try:
            await self.services.gate.wait(client[0], self.services.max_queue_age)
        except WaitedTooLongError as error:
            raise OverloadedError(str(error)) from error

    async def _answer(self, body: bytes) -> bytes:
        if is_long_json(len(body)):
            return await self.services.threads.run(self._answer_long, body, read=len(body))
        plan: Plan[Any] = self.endpoint(decode(body, self.wire.kind))
        if plan.is_quick:
            return _ENCODE(self.services.carry_out(plan, self.name))
        return await self.services.threads.run(self._carry_out, plan, written=plan.told)

    def _answer_long(self, body: bytes) -> bytes:
        return self._carry_out(self.endpoint(decode_in_turns(body, self.wire.kind)))

    def _carry_out(self, plan: Plan[Any]) -> bytes:
        return encode_in_turns(self.services.carry_out(plan, self.name))


def question_route(given: Services) -> type[QuestionRoute]:
    """The `route_class` of a router whose questions are answered by these services."""
    return type("Route", (QuestionRoute,), {"services": given})


class QuestionsFirst:
    """Takes a question to its route by a look-up of the path; all else goes on to FastAPI.

    What FastAPI has on the way to a route, it has for dependencies, files and parameters of paths.
    These routes have none of them, and the way costs half as much as the decision for one pod.
    """

    def __init__(self, routes: Iterable[BaseRoute], app: ASGIApp) -> None:
        """Look at routes as they are in the end, with what including their routers has added.

        Args:
            routes: of the application, questions and others.
            app: what answers all else, and the questions where a proxy's prefix is in the path.

        Raises:
            TypeError: an operation of a QuestionRoute has a parameter that is not the body, or a
                dependency.
            ValueError: its parameter is not marked by a Wire.
        """
        self._app = app
        self._routes: dict[tuple[Any, Any], QuestionRoute] = {}
        for context in iter_route_contexts(list(routes)):
            route = context.original_route
            if isinstance(route, QuestionRoute):
                _check(context)
                _ = route.wire
                self._routes |= {(method, context.path): route for method in route.methods or ()}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one ASGI connection scope."""
        route = self._routes.get((scope.get("method"), scope.get("path")))
        if route is None or scope.get("root_path"):
            return self._app(scope, receive, send)
        scope["route"] = route
        return route.handle(scope, receive, send)


def _check(route: Any) -> None:  # noqa: ANN401 - FastAPI's view of an included route
    """Refuse an operation to which this route would not give what it asks for."""
    body = [field.name for field in route.dependant.body_params]
    others = [name for name in inspect.signature(route.endpoint).parameters if name not in body]
    if route.dependant.dependencies or others or len(body) != 1:
        raise TypeError(
            f"{route.path}: an operation of this route has one parameter, the body, and no "
            "dependencies: they would be skipped. Guards belong into the middleware."
        )
