"""A span for each request, as ASGI middleware; there only where the process traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.rest_api.metrics import METHODS
from bailiff.rest_api.problems import REQUEST_ID
from bailiff.rest_api.routers.health import PROBES
from bailiff.tracing import Kind, Parent
from bailiff.tracing.faults import conclude

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bailiff.tracing import Span, Tracer

# The first status that is a failure of ours.
_FAULTS = 500


class Traced:
    """Around all else, so that every line of the log that a request causes names its trace."""

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        """Wrap.

        Args:
            app: what answers.
            tracer: makes the spans. Those of callers decide which are kept.
        """
        self.app = app
        self._tracer = tracer

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one ASGI connection scope."""
        # Probes come every few seconds, and nobody asks what became of one.
        if scope["type"] != "http" or scope["path"] in PROBES:
            return self.app(scope, receive, send)
        return self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        begun = {"http.request.method": method, "url.scheme": scope.get("scheme", "http")}
        status = 0
        error: BaseException | None = None

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._tracer.span(method, begun, Kind.SERVER, _parent(scope)) as span:
            try:
                await self.app(scope, receive, noting)
            except BaseException as raised:
                error = raised
                raise
            finally:
                if span.is_kept:
                    _tell(span, method, scope, status)
                    is_fault = status >= _FAULTS
                    conclude(span, str(status or ""), error, is_fault=is_fault)


def _tell(span: Span, method: str, scope: Scope, status: int) -> None:
    route = getattr(scope.get("route"), "path", "")
    if route:
        span.name(f"{method} {route}")
        span.set({"http.route": route})
    if REQUEST_ID in scope:
        span.set({"bailiff.request_id": scope[REQUEST_ID].decode()})
    if status:
        span.set({"http.response.status_code": status})


def _parent(scope: Scope) -> Parent | None:
    headers = dict(scope["headers"])
    found = headers.get(b"traceparent")
    if found is None:
        return None
    state = headers.get(b"tracestate", b"")
    return Parent(found.decode("latin-1"), state.decode("latin-1"))
