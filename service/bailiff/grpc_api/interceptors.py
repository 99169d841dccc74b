"""What surrounds every call of our own service, whatever it asks.

From the outside in: what is counted of them (`Observation`), how many may be under way
(`Admission`), how an exception is told to the caller (`Statuses`). The standard services, health
and reflection, pass untouched: a server that is full is alive, and says so.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import grpc
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types

from bailiff.grpc_api.errors import OverloadedError, RefusedError, internal_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.clock import Clock
    from bailiff.grpc_api.metrics import GrpcMetrics

# What grpcio hands to a handler of any kind, and gets from it: a message or an iterator of
# messages; an answer, or nothing where the handler has written its answers to the context.
Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
Behaviour: TypeAlias = "Callable[[Any, Context], Awaitable[bytes | None]]"
Handler: TypeAlias = Any  # grpcio's own namedtuple, which its types do not tell

_OK, _CANCELLED = grpc.StatusCode.OK.name, grpc.StatusCode.CANCELLED.name
_KINDS = ("unary_unary", "unary_stream", "stream_stream")

_log = logging.getLogger(__name__)


class Layer(Protocol):
    """What is put around the handler of every method."""

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """What to do in place of a method's handler, which is part of it."""


class Layers(grpc.aio.ServerInterceptor):
    """Puts layers around the handlers of one service; made once for each method.

    One interceptor for all of them, since grpcio asks each of them anew for every call.
    """

    def __init__(self, service: str, *layers: Layer) -> None:
        """Prepare.

        Args:
            service: its full name, as `bailiff.v1.EvictionDecisionService`.
            layers: from the outside in.
        """
        self._prefix = f"/{service}/"
        self._layers = layers
        self._surrounded: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """The handler of a call that begins; grpcio asks before it reads a message."""
        handler = await continuation(handler_call_details)
        path = handler_call_details.method
        # Paths are the caller's: only those that have a handler may be kept.
        if handler is None or not path.startswith(self._prefix):
            return handler
        surrounded = self._surrounded.get(path)
        if surrounded is None:
            surrounded = self._surround(path.removeprefix(self._prefix), handler)
            self._surrounded[path] = surrounded
        return surrounded

    def _surround(self, method: str, handler: Handler) -> Handler:
        kind = next(kind for kind in _KINDS if getattr(handler, kind) is not None)
        serve = getattr(handler, kind)
        for layer in reversed(self._layers):
            serve = layer.around(method, serve)
        return handler._replace(**{kind: serve})


class Admission:
    """Refuses calls beyond a number with UNAVAILABLE and the time to wait."""

    def __init__(self, most: int) -> None:
        """Prepare; `most` calls are under way at once."""
        self._most = most
        self._under_way = 0

    def around(self, method: str, serve: Behaviour) -> Behaviour:  # noqa: ARG002 - alike for all
        """As `serve`, for calls that are let in."""

        async def admitted(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            if self._under_way >= self._most:
                error = OverloadedError(f"{self._most} calls are being answered already")
                await abort(context, error.status())
            self._under_way += 1
            try:
                return await serve(request, context)
            finally:
                self._under_way -= 1

        return admitted


class Observation:
    """Counts calls by the status that they end with, and how long they take."""

    def __init__(self, metrics: GrpcMetrics, clock: Clock) -> None:
        """Prepare; the clock measures."""
        self._metrics = metrics
        self._clock = clock

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """As `serve`, counted."""
        count, clock = self._metrics.requests.observe, self._clock
        count_stream = self._metrics.count_stream

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
                if isinstance(request, bytes):
                    count((method, code), clock.monotonic() - start)
                else:  # its requests are counted one by one
                    count_stream(method, code)
            return answer

        return observed


class Statuses:
    """Ends a call whose handler raised with a status and its details, whatever it raised."""

    def around(self, method: str, serve: Behaviour) -> Behaviour:  # noqa: ARG002 - alike for all
        """As `serve`, without exceptions."""

        async def told(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            try:
                return await serve(request, context)
            except grpc.aio.InternalError:
                # grpcio's word that an answer cannot be written, since the caller has gone.
                raise asyncio.CancelledError from None
            except Exception as error:  # noqa: BLE001 - the caller gets a status whatever happens
                await abort(context, status_of(error))

        return told


def status_of(error: Exception) -> Status:
    """What a caller is told of an exception; what is no RefusedError is our fault, and logged."""
    if isinstance(error, RefusedError):
        return error.status()
    _log.error("a question was not answered", exc_info=error)
    return internal_status()


async def abort(context: Context, status: Status) -> NoReturn:
    """End the call with this status; raises grpc's AbortError."""
    await context.abort_with_status(rpc_status.to_status(status))
