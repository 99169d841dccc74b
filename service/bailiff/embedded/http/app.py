"""The ASGI application: from a request to its answer."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import ApiError
from bailiff.embedded.faults import Call, Fault, Faults
from bailiff.embedded.http import discovery
from bailiff.embedded.http.answer import encode, send_body, send_error, send_json
from bailiff.embedded.http.connections import Connections, client_of
from bailiff.embedded.http.negotiation import choose_form, wants_aggregated_discovery
from bailiff.embedded.http.request import Request
from bailiff.embedded.http.routes import Route, parse_path
from bailiff.embedded.http.verbs import Verbs, verb_of

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from bailiff.embedded.registry import Registry
    from bailiff.embedded.settings import EmbeddedSettings

_log = logging.getLogger(__name__)
_HEALTH = ("healthz", "livez", "readyz")
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Application:
    """Serves one cluster.

    Attributes:
        connections: of the server that runs it.
    """

    def __init__(self, registry: Registry, settings: EmbeddedSettings, faults: Faults) -> None:
        self._settings = settings
        self._verbs = Verbs(registry, settings)
        self._faults = faults
        self.connections = Connections()
        faults.connect(self.connections.drop_watches)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's entry."""
        if scope["type"] != "http":
            return
        try:
            request = Request(scope, receive, self._settings.max_body_bytes)
            await self._route(request, send)
        except ApiError as error:
            await send_error(send, error)
        except Exception as error:  # noqa: BLE001 - the edge: a fault of ours must be answered too
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await send_error(send, errors.internal(repr(error)))

    async def _route(self, request: Request, send: Send) -> None:
        segments = request.path.strip("/").split("/")
        route = parse_path(segments) if _is_object_path(segments) else None
        call = _call_of(request, route)
        fault = self._faults.strike(call)
        if fault is not None:
            await self._suffer(fault, call, request, route, send)
        else:
            await self._answer(call, request, route, send)

    async def _suffer(
        self, fault: Fault, call: Call, request: Request, route: Route | None, send: Send
    ) -> None:
        if fault.delay:
            await asyncio.sleep(fault.delay)
        answers = fault.abort or fault.error is not None
        if fault.after or not answers:
            await self._answer(call, request, route, _nowhere if answers else send)
        if fault.abort:
            self.connections.cut(client_of(request.scope))
        elif fault.error is not None and fault.body is not None:
            await send_body(send, fault.error.code, fault.body)
        elif fault.error is not None:
            raise fault.error

    async def _answer(self, call: Call, request: Request, route: Route | None, send: Send) -> None:
        if route is None:
            await _discover(request, send)
        elif call.verb == "watch":
            client = client_of(request.scope)
            self.connections.watches[client] = call.resource
            try:
                await self._verbs.answer(call.verb, request, route, send)
            finally:
                del self.connections.watches[client]
        else:
            await self._verbs.answer(call.verb, request, route, send)


async def _nowhere(_message: Message) -> None:
    """Swallows the answer of a request whose answer is to be lost."""


def _call_of(request: Request, route: Route | None) -> Call:
    if route is None:
        return Call(verb=request.method.lower(), path=request.path)
    return Call(
        verb=verb_of(request, route),
        resource=route.resource.id,
        namespace=route.namespace or "",
        name=route.name,
        subresource=route.subresource,
        path=request.path,
    )


def _is_object_path(segments: list[str]) -> bool:
    return segments[0] in ("api", "apis") and len(segments) > (2 if segments[0] == "api" else 3)


async def _discover(request: Request, send: Send) -> None:
    segments, accept = request.path.strip("/").split("/"), request.header("accept")
    if request.method not in ("GET", "HEAD"):
        raise errors.method_not_allowed()
    if segments[0] in _HEALTH:
        await send_body(send, 200, b"ok", "text/plain; charset=utf-8")
    elif segments in (["api"], ["apis"]) and wants_aggregated_discovery(accept):
        await send_body(
            send, 200, encode(discovery.aggregated(core=segments == ["api"])), _AGGREGATED
        )
    else:
        choose_form(accept)
        await send_json(send, discovery.describe(segments))
