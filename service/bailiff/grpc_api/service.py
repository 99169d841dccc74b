"""The handlers of bailiff.v1.EvictionDecisionService, made from the core's table of questions.

They get and give bytes: what is no message is then ours to answer, with details, and what repeats
need not be converted again (see wire.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from bailiff.grpc_api.interceptors import status_of
from bailiff.grpc_api.questions import IN_PARTS, SERVICE, AskedByMethod, Desk
from bailiff.grpc_api.wire import WHOLE, parse
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable
    from typing import TypeAlias

    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no types

    from bailiff.decisions import Systems
    from bailiff.grpc_api.interceptors import Context

    Handlers: TypeAlias = dict[str, grpc.RpcMethodHandler[bytes, bytes]]

STREAM = "DecideStream"
# The question that the requests within a stream ask.
_STREAMED = "DecideBatch"

_OK, _CANCELLED = grpc.StatusCode.OK.name, grpc.StatusCode.CANCELLED.name
_CODES = {code.value[0]: code.name for code in grpc.StatusCode}
_Request = WHOLE.class_of(pb.DecideStreamRequest.DESCRIPTOR)
_Response = WHOLE.class_of(pb.DecideStreamResponse.DESCRIPTOR)


def rpc_handlers(systems: Systems, desk: Desk) -> Handlers:
    """One handler for every method of the service whose question there is.

    A question that no method asks is one that the protos do not know yet.

    Raises:
        TypeError: a type of a question has no place in the protos.
    """
    handlers: Handlers = {}
    for name, question in systems.questions.items():
        method = name[:1].upper() + name[1:]
        if method not in SERVICE.methods_by_name:
            continue
        asked = AskedByMethod(question, SERVICE.methods_by_name[method], desk)
        handlers[method] = grpc.unary_unary_rpc_method_handler(_unary(asked))
        if method + IN_PARTS in SERVICE.methods_by_name:
            handlers[method + IN_PARTS] = grpc.unary_stream_rpc_method_handler(_in_parts(asked))
        if method == _STREAMED:
            stream = _Stream(asked, desk)
            handlers[STREAM] = grpc.stream_stream_rpc_method_handler(stream.serve)
    return handlers


def _unary(asked: AskedByMethod) -> Callable[[bytes, Context], Awaitable[bytes]]:
    async def serve(data: bytes, _context: Context) -> bytes:
        return await asked.answer(data)

    return serve


def _in_parts(asked: AskedByMethod) -> Callable[[bytes, Context], Awaitable[None]]:
    async def serve(data: bytes, context: Context) -> None:
        for part in await asked.answer_in_parts(data):
            await context.write(part)

    return serve


class _Stream:
    """DecideStream: one message at a time, its answer written before the next one is read.

    That is the backpressure: `write` waits while the client does not read, and then nothing more
    is taken from it.
    """

    def __init__(self, asked: AskedByMethod, desk: Desk) -> None:
        self._asked = asked
        self._clock = desk.clock
        self._count = desk.metrics.requests.observe

    async def serve(self, requests: AsyncIterable[bytes], context: Context) -> None:
        async for data in requests:
            await context.write(await self._answer(data))

    async def _answer(self, data: bytes) -> bytes:
        start = self._clock.monotonic()
        request_id = ""
        code = _CANCELLED
        try:
            self._asked.check(data)
            request = parse(_Request, data)
            request_id = request.request_id
            answer = await self._asked.answer(request.batch, "batch")
            code = _OK
            return _told(request_id, answer)
        except Exception as error:  # noqa: BLE001 - the stream goes on whatever happens
            status = status_of(error)
            code = _CODES[status.code]
            return _refused(request_id, status)
        finally:
            self._count((STREAM, code), self._clock.monotonic() - start)


def _told(request_id: str, answer: bytes) -> bytes:
    data: bytes = _Response(request_id=request_id, answer=answer).SerializeToString()
    return data


def _refused(request_id: str, status: Status) -> bytes:
    told = _Response(request_id=request_id, error=status.SerializeToString())
    data: bytes = told.SerializeToString()
    return data
