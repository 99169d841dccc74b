"""A call that ends with a status leaves nothing behind."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from bailiff.grpc_api.errors import OverloadedError
from bailiff.grpc_api.interceptors import Layers, Statuses

if TYPE_CHECKING:
    from collections.abc import Iterator


class Answer:
    """What a handler holds when it fails."""


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
async def test_what_a_refused_call_held_is_free_at_once() -> None:
    held: list[weakref.ref[Answer]] = []

    async def serve(_requests: object, _context: object) -> bytes:
        answer = Answer()
        held.append(weakref.ref(answer))
        raise OverloadedError("no room for the answer")

    class Handler(grpc.GenericRpcHandler):
        def service(self, _details: grpc.HandlerCallDetails) -> Any:
            return grpc.unary_unary_rpc_method_handler(serve)

    server = grpc.aio.server(interceptors=[Layers(lambda _service, _method: (Statuses(),))])
    server.add_generic_rpc_handlers([Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            method = channel.unary_unary("/some.Service/Method")
            for _ in range(3):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await method(b"")
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    finally:
        await server.stop(0)
    assert [one() for one in held] == [None] * 3
