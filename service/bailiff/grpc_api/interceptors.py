"""What surrounds every call, whatever it asks.

From the outside in: what is counted of them (`Observation`, of our own service), how an exception
is told to the caller (`Statuses`), who asks (`Access`), whether there is a place (`Admission`). The
standard services, health and reflection, have places of their own: a server that is full is alive,
and says so.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, cast

import grpc
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types

from bailiff.grpc_api.errors import RefusedError, internal_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Sequence

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.clock import Clock
    from bailiff.grpc_api.metrics import GrpcMetrics

# What grpcio hands to a handler of any kind, and gets from it: a message or an iterator of
# messages; an answer, or nothing where the handler has written its answers to the context.
Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
Behaviour: TypeAlias = "Callable[[Any, Context], Awaitable[bytes | None]]"
Handler: TypeAlias = Any  # grpcio's own namedtuple, which its types do not tell

_OK, _CANCELLED = grpc.StatusCode.OK.name, grpc.StatusCode.CANCELLED.name
# How methods are served, by what they are: all as if they had a stream of requests, which is the
# same on the wire. grpcio would read a single one before it asks us, for as long as that takes.
_KINDS = {
    "unary_unary": grpc.stream_unary_rpc_method_handler,
    "unary_stream": grpc.stream_stream_rpc_method_handler,
    "stream_stream": grpc.stream_stream_rpc_method_handler,
}
_WRITES = ("unary_stream", "stream_stream")

_log = logging.getLogger(__name__)


class Layer(Protocol):
    """What is put around the handler of every method."""

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """What to do in place of a method's handler, which is part of it."""


class Layers(grpc.aio.ServerInterceptor):
    """Puts layers around the handlers of methods; made once for each method.

    One interceptor for all of them, since grpcio asks each of them anew for every call.
    """

    def __init__(self, layers_of: Callable[[str, str], Sequence[Layer]]) -> None:
        """Prepare.

        Args:
            layers_of: the layers of a service's method, from the outside in; the innermost reads
                what the client sends.
        """
        self._layers_of = layers_of
        self._surrounded: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """The handler of a call that begins; grpcio asks before it reads a message."""
        path = handler_call_details.method
        surrounded = self._surrounded.get(path)
        if surrounded is None:
            handler = await continuation(handler_call_details)
            # Paths are the caller's: only those that have a handler may be kept.
            if handler is None:
                return None
            surrounded = self._surrounded[path] = self._surround(path, handler)
        return surrounded

    def _surround(self, path: str, handler: Handler) -> Handler:
        service, _, method = path[1:].partition("/")
        kind = next(kind for kind in _KINDS if getattr(handler, kind) is not None)
        serve: Behaviour = (
            _written(getattr(handler, kind)) if kind in _WRITES else getattr(handler, kind)
        )
        for layer in reversed(self._layers_of(service, method)):
            serve = layer.around(method, serve)
        make = _KINDS[kind]
        return make(serve, handler.request_deserializer, handler.response_serializer)


def _written(serve: Callable[[Any, Context], Any]) -> Behaviour:
    """A handler that yields its answers, as one that writes them; one that writes as it is."""
    if not inspect.isasyncgenfunction(serve):
        return cast("Behaviour", serve)

    async def written(request: Any, context: Context) -> None:  # noqa: ANN401 - see Behaviour
        async for answer in serve(request, context):
            await context.write(answer)

    return written


class Observation:
    """Counts calls by the status that they end with, and how long they take."""

    def __init__(self, metrics: GrpcMetrics, clock: Clock, streams: Container[str]) -> None:
        """Prepare; the clock measures, `streams` are the methods with several requests a call."""
        self._metrics = metrics
        self._clock = clock
        self._streams = streams

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """As `serve`, counted."""
        count, clock = self._metrics.requests.observe, self._clock
        count_stream = self._metrics.count_stream
        is_stream = method in self._streams

        async def observed(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            start = clock.monotonic()
            # What stands if the caller hangs up or its deadline passes, which cancels this task.
            code = _CANCELLED
            try:
                answer = await serve(request, context)
                code = _OK
            except grpc.aio.AbortError:
                code = context.code().name
                raise
            finally:
                if is_stream:  # its requests are counted one by one
                    count_stream(method, code)
                else:
                    count((method, code), clock.monotonic() - start)
            return answer

        return observed


class Statuses:
    """Ends a call whose handler raised with a status and its details, whatever it raised."""

    def around(self, method: str, serve: Behaviour) -> Behaviour:  # noqa: ARG002 - alike for all
        """As `serve`, without exceptions."""

        async def told(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            try:
                return await serve(request, context)
            except grpc.aio.AbortError:
                raise  # it has its status
            except grpc.aio.InternalError:
                # grpcio's word that an answer cannot be written, since the caller has gone.
                raise asyncio.CancelledError from None
            except Exception as error:  # noqa: BLE001 - the caller gets a status whatever happens
                status = status_of(error)
            # Not while the error is handled: grpcio keeps what `abort` raises in the context, with
            # the stack that raised it, and so all that the handler of the error's call held.
            return await abort(context, status)

        return told


def status_of(error: Exception) -> Status:
    """What a caller is told of an exception; what is no RefusedError is our fault, and logged."""
    if isinstance(error, RefusedError):
        return error.status()
    _log.error("a question was not answered", exc_info=error)
    return internal_status()


async def abort(context: Context, status: Status) -> NoReturn:
    """End the call with this status; raises grpc's AbortError."""
    try:
        await context.abort_with_status(rpc_status.to_status(status))
    except grpc.aio.InternalError:
        raise asyncio.CancelledError from None  # the caller has gone
