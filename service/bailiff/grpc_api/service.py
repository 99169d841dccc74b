"""The handlers of our services, made from the core's table of questions.

They get and give bytes: what is no message is then ours to answer, with details, and what repeats
need not be converted again (see wire.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from bailiff.grpc_api.node_streams import NodeStreams
from bailiff.grpc_api.questions import AskedByMethod, Desk
from bailiff.grpc_api.services import in_parts_of, method_of
from bailiff.grpc_api.streams import DecideStreams, RequestStream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from bailiff.decisions import Systems
    from bailiff.grpc_api.interceptors import Context

    OfService: TypeAlias = dict[str, grpc.RpcMethodHandler[bytes, bytes]]
    # By the service's full name, then by method.
    Handlers: TypeAlias = dict[str, OfService]

# The question that the requests within DecideStream ask.
_STREAMED = "decideBatch"


def rpc_handlers(systems: Systems, desk: Desk) -> Handlers:
    """One handler for every method of our services whose question there is.

    A question that no method asks is one that the protos do not know yet.

    Raises:
        TypeError: a type of a question has no place in the protos.
    """
    handlers: Handlers = {}
    streams: list[RequestStream] = [NodeStreams(systems.judge_nodes, desk)]
    for name, question in systems.questions.items():
        method = method_of(question)
        if method is None:
            continue
        asked = AskedByMethod(question, method, desk)
        of_service = handlers.setdefault(method.containing_service.full_name, {})
        of_service[method.name] = grpc.unary_unary_rpc_method_handler(_unary(asked))
        in_parts = in_parts_of(method)
        if in_parts is not None:
            of_service[in_parts.name] = grpc.unary_stream_rpc_method_handler(_in_parts(asked))
        if name == _STREAMED:
            streams.append(DecideStreams(asked, desk))
    for stream in streams:
        handlers[stream.method.containing_service.full_name][stream.method.name] = (
            grpc.stream_stream_rpc_method_handler(stream.serve)
        )
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
