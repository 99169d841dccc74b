"""A gRPC server that answers as a test scripts it, whatever method is called."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.rpc import (  # type: ignore[import-untyped]  # it ships no types
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from google.protobuf.message import Message


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, answer: Callable[..., AsyncIterator[bytes]]) -> None:
        self._answer = answer

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """On the wire a call with one message is a stream of them with one in it."""
        return grpc.stream_stream_rpc_method_handler(self._answered)

    async def _answered(self, requests: Any, context: Any) -> AsyncIterator[bytes]:
        """A function of its own, since grpcio looks at what kind of function it is given."""
        async for answer in self._answer(requests, context):
            yield answer


@contextlib.asynccontextmanager
async def serving(answer: Callable[..., AsyncIterator[bytes]], port: int = 0) -> AsyncIterator[int]:
    """Serve on a port of this machine; `answer` gets the requests and the context."""
    server = grpc.aio.server(handlers=[_Handler(answer)])
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(0)


async def refuse(
    context: Any, code: grpc.StatusCode, reason: str, message: str = "no", *more: Message
) -> None:
    """End a call as Bailiff does."""
    packed = [Packed() for _ in range(1 + len(more))]
    info = error_details_pb2.ErrorInfo(domain="bailiff.dev", reason=reason)
    for place, detail in zip(packed, (info, *more), strict=True):
        place.Pack(detail)
    status = status_pb2.Status(code=code.value[0], message=message, details=packed)
    await context.abort_with_status(rpc_status.to_status(status))


def retry_info(seconds: float) -> Message:
    """When to come again."""
    info = error_details_pb2.RetryInfo()
    info.retry_delay.FromMilliseconds(round(seconds * 1000))
    told: Message = info
    return told
