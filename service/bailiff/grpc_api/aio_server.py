"""grpcio's server, mended where one call can end it.

grpcio 1.85 decodes the path of a call to a method that it does not know in the task that takes all
calls in (`_server_main_loop` of src/python/grpcio/grpc/_cython/_cygrpc/aio/server.pyx.pxi): a path
that is no UTF-8 ends that task, and with it the server, though its port stays open. The path cannot
be seen from outside that file. So such calls are taken here, and every one is told what grpcio
would have told it: there is no such method. Calls to known methods go grpcio's own way.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
from grpc._cython import cygrpc
from grpc.aio import _server as grpcio

if TYPE_CHECKING:
    from collections.abc import Sequence


class _CygrpcServer(cygrpc.AioServer):  # type: ignore[misc]  # it ships no types
    """Answers calls to unknown methods itself, whatever their path."""

    async def _request_call(self) -> NoReturn:
        """In grpcio's: the next call to a method that is not registered. Here there is none."""
        loop = asyncio.get_running_loop()
        answering: set[asyncio.Task[None]] = set()
        while True:
            call = await super()._request_call()
            task = loop.create_task(_refuse(cygrpc._ServicerContext(call, None, None, loop)))  # noqa: SLF001 - see the module
            answering.add(task)
            task.add_done_callback(answering.discard)


async def _refuse(context: Any) -> None:  # noqa: ANN401 - of grpcio, which ships no types for it
    # It is told, or nobody is there any more, or the server stops.
    with contextlib.suppress(grpc.aio.BaseError):
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")


class AioServer(grpcio.Server):
    """As `grpc.aio.server()` makes it; all methods are registered before it starts."""

    def __init__(
        self,
        interceptors: Sequence[grpc.aio.ServerInterceptor],
        options: Sequence[tuple[str, Any]],
    ) -> None:
        """Prepare, on the loop that runs; arguments as of `grpc.aio.server`."""
        self._loop = cygrpc.get_working_loop()
        arguments = grpcio._augment_channel_arguments(options, None)  # noqa: SLF001 - see the module
        self._server = _CygrpcServer(self._loop, None, (), interceptors, arguments, None)
