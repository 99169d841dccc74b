"""What calls are told that follow something: the newest, however slowly their clients read.

grpcio's health service writes to one watcher while it holds the lock of all (`Watch` of
grpc_health/v1/_async.py): one client that does not read would keep the health from everybody, and
the server from stopping. And grpcio ends no call while an answer of it is being written
(GRPC_CALL_ERROR_TOO_MANY_OPERATIONS): it would stay open for good.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import grpc

from bailiff.turns import outlast

if TYPE_CHECKING:
    from bailiff.grpc_api.connection import Connection
    from bailiff.grpc_api.interceptors import Context


class Following:
    """A call's context, whose answers are written one after the other, without being waited for."""

    __slots__ = ("_connection", "_context", "_newest", "_writing")

    def __init__(self, context: Context, connection: Connection) -> None:
        """Nothing is written yet; the context is where it goes."""
        self._context = context
        self._connection = connection
        self._newest: Any = None
        self._writing: asyncio.Task[None] | None = None

    async def write(self, answer: Any) -> None:  # noqa: ANN401 - a message of a standard service
        """Have this written, in place of what still waits to be.

        Raises:
            grpc.aio.InternalError: the one before could not be: the caller has gone.
        """
        self._newest = answer
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        elif self._writing.done():
            self._writing.result()
            self._writing = asyncio.create_task(self._write())

    async def end(self) -> None:
        """Wait until nothing is being written, however often whoever waits is cancelled.

        That ends with the connection at the latest, to which the call counts meanwhile as one whose
        answer is not read (`Connection.unread`).
        """
        self._newest = None
        if self._writing is None:
            return
        self._connection.active -= 1
        try:
            cancelled = await outlast(self._writing)
        finally:
            self._connection.active += 1
        with contextlib.suppress(grpc.aio.BaseError):  # the caller has gone, or the server stopped
            self._writing.result()
        if cancelled is not None:
            raise cancelled

    async def _write(self) -> None:
        while self._newest is not None:
            answer, self._newest = self._newest, None
            await self._context.write(answer)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever grpcio has
        return getattr(self._context, name)
