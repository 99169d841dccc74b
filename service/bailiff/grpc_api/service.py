"""The handlers of bailiff.v1.EvictionDecisionService.

They get and give bytes: what is no message is then ours to answer, with details, and what repeats
need not be converted again (see wire.py).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import grpc

from bailiff.grpc_api.errors import RefusedError, abort, internal_status
from bailiff.grpc_api.requests import read_stream_request
from bailiff.grpc_api.responses import write_stream_answer, write_stream_error
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable
    from typing import TypeAlias

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.clock import Clock
    from bailiff.grpc_api.metrics import GrpcMetrics, MethodMetrics
    from bailiff.grpc_api.questions import Questions

    Answer: TypeAlias = Callable[[bytes], Awaitable[bytes]]
    Handlers: TypeAlias = dict[str, grpc.RpcMethodHandler[bytes, bytes]]
    Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["EvictionDecisionService"]
SERVICE_NAME: str = DESCRIPTOR.full_name

_log = logging.getLogger(__name__)
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def rpc_handlers(questions: Questions, metrics: GrpcMetrics, clock: Clock) -> Handlers:
    """One handler for every method of the service; the clock measures."""
    unary: dict[str, Answer] = {
        "Decide": questions.decide,
        "DecideNodeTaints": questions.decide_node_taints,
        "DecideNode": questions.decide_node,
        "DecideTaintChange": questions.decide_taint_change,
        "DecideDeviceTaints": questions.decide_device_taints,
        "PreviewDeviceTaintRule": questions.preview_device_taint_rule,
    }
    handlers: Handlers = {
        name: grpc.unary_unary_rpc_method_handler(_unary(answer, metrics.method(name), clock))
        for name, answer in unary.items()
    }
    stream = _Stream(questions, metrics.method("DecideStream"), clock)
    handlers["DecideStream"] = grpc.stream_stream_rpc_method_handler(stream.serve)
    return handlers


def _unary(
    answer: Answer, metrics: MethodMetrics, clock: Clock
) -> Callable[[bytes, Context], Awaitable[bytes]]:
    async def serve(data: bytes, context: Context) -> bytes:
        start = clock.monotonic()
        # What stands if the caller hangs up or its deadline passes, which cancels this task.
        code = grpc.StatusCode.CANCELLED
        try:
            response = await answer(data)
            code = grpc.StatusCode.OK
        except Exception as error:  # noqa: BLE001 - the caller gets a status whatever happens
            status = _status_of(error)
            code = _CODES[status.code]
            await abort(context, status)
        finally:
            metrics.observe_seconds(clock.monotonic() - start)
            metrics.count_call(code)
        return response

    return serve


class _Stream:
    """DecideStream: one message at a time, its answer written before the next one is read.

    That is the backpressure: `write` waits while the client does not read, and then nothing more
    is taken from it.
    """

    def __init__(self, questions: Questions, metrics: MethodMetrics, clock: Clock) -> None:
        self._questions = questions
        self._clock = clock
        self._metrics = metrics

    async def serve(self, requests: AsyncIterable[bytes], context: Context) -> None:
        code = grpc.StatusCode.CANCELLED
        try:
            async for data in requests:
                await context.write(await self._answer(data))
            code = grpc.StatusCode.OK
        finally:
            self._metrics.count_call(code)

    async def _answer(self, data: bytes) -> bytes:
        start = self._clock.monotonic()
        request_id = ""
        code = grpc.StatusCode.CANCELLED
        try:
            self._questions.bounds.check(data)
            request_id, batch = read_stream_request(data)
            answer = await self._questions.decide_batch(batch)
            code = grpc.StatusCode.OK
            return write_stream_answer(request_id, answer)
        except Exception as error:  # noqa: BLE001 - the stream goes on whatever happens
            status = _status_of(error)
            code = _CODES[status.code]
            return write_stream_error(request_id, status)
        finally:
            self._metrics.observe_seconds(self._clock.monotonic() - start)
            self._metrics.count_message(code)


def _status_of(error: Exception) -> Status:
    if isinstance(error, RefusedError):
        return error.status()
    _log.error("a question was not answered", exc_info=error)
    return internal_status()
