"""The handlers of bailiff.v1.EvictionDecisionService.

They get and give bytes: what is no message is then ours to answer, with details, and what repeats
need not be converted again (see wire.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from bailiff.grpc_api.interceptors import status_of
from bailiff.grpc_api.requests import read_stream_request
from bailiff.grpc_api.responses import write_stream_answer, write_stream_error
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable
    from typing import TypeAlias

    from bailiff.clock import Clock
    from bailiff.grpc_api.interceptors import Context
    from bailiff.grpc_api.metrics import MethodMetrics
    from bailiff.grpc_api.questions import Questions

    Answer: TypeAlias = Callable[[bytes], Awaitable[bytes]]
    Handlers: TypeAlias = dict[str, grpc.RpcMethodHandler[bytes, bytes]]

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["EvictionDecisionService"]
SERVICE_NAME: str = DESCRIPTOR.full_name

_CODES = {code.value[0]: code for code in grpc.StatusCode}


def rpc_handlers(questions: Questions, streamed: MethodMetrics, clock: Clock) -> Handlers:
    """One handler for every method of the service.

    Args:
        questions: answer them.
        streamed: where the requests within streams are counted.
        clock: measures those.
    """
    unary: dict[str, Answer] = {
        "Decide": questions.decide,
        "DecideNodeTaints": questions.decide_node_taints,
        "DecideNode": questions.decide_node,
        "DecideTaintChange": questions.decide_taint_change,
        "DecideDeviceTaints": questions.decide_device_taints,
        "PreviewDeviceTaintRule": questions.preview_device_taint_rule,
    }
    handlers: Handlers = {
        name: grpc.unary_unary_rpc_method_handler(_unary(answer)) for name, answer in unary.items()
    }
    stream = _Stream(questions, streamed, clock)
    handlers["DecideStream"] = grpc.stream_stream_rpc_method_handler(stream.serve)
    return handlers


def _unary(answer: Answer) -> Callable[[bytes, Context], Awaitable[bytes]]:
    async def serve(data: bytes, _context: Context) -> bytes:
        return await answer(data)

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
        async for data in requests:
            await context.write(await self._answer(data))

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
            status = status_of(error)
            code = _CODES[status.code]
            return write_stream_error(request_id, status)
        finally:
            self._metrics.observe_seconds(self._clock.monotonic() - start)
            self._metrics.count_message(code)
