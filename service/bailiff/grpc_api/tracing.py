"""A span for each call of our own service, and for each request of a stream.

A stream has none itself: it may last for days, and a span is written when it ends.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc

from bailiff.tracing import Kind, Parent
from bailiff.tracing.faults import conclude

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from bailiff.grpc_api.interceptors import Behaviour, Context
    from bailiff.tracing import Span, Tracer

# Those that are our fault and not the caller's (OpenTelemetry's conventions for gRPC servers).
_FAULTS = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
_OK, _CANCELLED = grpc.StatusCode.OK.name, grpc.StatusCode.CANCELLED.name
_UNKNOWN = grpc.StatusCode.UNKNOWN.name


class Spans:
    """The layer that makes them; the outermost."""

    def __init__(self, tracer: Tracer, service: str, streams: Container[str]) -> None:
        """Prepare.

        Args:
            tracer: makes the spans. Those of callers decide which are kept.
            service: its full name.
            streams: its methods with several requests in a call.
        """
        self._tracer = tracer
        self._service = service
        self._streams = streams

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """As `serve`, within a span, or, of a stream, within what its caller has open."""
        tracer = self._tracer
        name = f"{self._service}/{method}"

        async def within(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            with tracer.under(_parent(context)):
                return await serve(request, context)

        async def spanned(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - as above
            with answering(tracer, name, _parent(context)) as outcome:
                try:
                    answer = await serve(request, context)
                except grpc.aio.AbortError:
                    outcome.code = context.code().name
                    raise
                outcome.code = _OK
                return answer

        return within if method in self._streams else spanned


class Outcome:
    """How a request has ended.

    Attributes:
        code: its status; empty as long as nobody has said.
    """

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code = ""


@contextmanager
def answering(tracer: Tracer, name: str, parent: Parent | None = None) -> Iterator[Outcome]:
    """A span around the answer to one request, which is told how it has ended.

    Args:
        tracer: see there.
        name: the service's full name and the method's.
        parent: see Tracer.
    """
    outcome = Outcome()
    error: BaseException | None = None
    about = {"rpc.system.name": "grpc", "rpc.method": name}
    with tracer.span(name, about, Kind.SERVER, parent) as span:
        try:
            yield outcome
        except BaseException as raised:
            error = raised
            raise
        finally:
            _tell(span, outcome.code, error)


def _tell(span: Span, said: str, error: BaseException | None) -> None:
    # What is raised without a status gRPC answers with UNKNOWN, unless the caller has gone.
    code = said or (_UNKNOWN if isinstance(error, Exception) else _CANCELLED)
    span.set({"rpc.response.status_code": code})
    conclude(span, code, None if said else error, is_fault=code in _FAULTS)


def _parent(context: Context) -> Parent | None:
    found = {}
    for name, value in context.invocation_metadata() or ():
        if name in ("traceparent", "tracestate"):
            found[name] = value if isinstance(value, str) else value.decode("latin-1")
    if "traceparent" not in found:
        return None
    return Parent(found["traceparent"], found.get("tracestate", ""))
