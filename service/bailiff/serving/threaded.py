"""An HTTP port in a thread of its own, held to a share of one core."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from bailiff.serving.own_thread import OwnThread
from bailiff.serving.pace import paced_loop

if TYPE_CHECKING:
    from bailiff.serving.server import HttpServer

# Beyond the grace of the server: its own time to notice, and to close.
_JOIN_SECONDS = 3.0


class ThreadedHttpServer:
    """Owns the thread in which a server runs; started and stopped from the loop of the owner.

    The application runs in the thread's loop, and must not touch what belongs to another.
    """

    def __init__(self, server: HttpServer, share: float) -> None:
        """Prepare; nothing is bound yet.

        Args:
            server: not started.
            share: of one core that the thread may take, above 0, at most 1.
        """
        self._server = server
        self._share = share
        self._grace = 0.0
        self._is_to_stop = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread: OwnThread | None = None

    async def start(self) -> int:
        """Listen; returns the port once requests are answered.

        Raises:
            OSError: the address cannot be listened on.
        """
        owner = asyncio.get_running_loop()
        started: asyncio.Future[int] = owner.create_future()
        self._thread = OwnThread("http", partial(self._run, owner, started))
        self._thread.start()
        over = asyncio.ensure_future(self._thread.wait())
        first: set[asyncio.Future[Any]] = {over, started}
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if started.done():
            over.cancel()
            return started.result()
        await over
        raise RuntimeError("the server has ended before it was asked anything")

    async def wait(self) -> None:
        """Until the server has ended; raises what ended it."""
        if self._thread is not None:
            await self._thread.wait()

    async def stop(self, grace: float) -> None:
        """Take no new connections, finish what is being answered, and join the thread.

        Args:
            grace: seconds for that, rounded up to whole ones; requests that take longer are cut.

        Raises:
            Exception: what had ended the server before, or ended it now.
            TimeoutError: the thread goes on, which is a fault of the application's.
        """
        if self._thread is None:
            return
        self._grace, self._is_to_stop = grace, True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed: it has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        async with asyncio.timeout(grace + _JOIN_SECONDS):
            await self._thread.wait()

    def _run(self, owner: asyncio.AbstractEventLoop, started: asyncio.Future[int]) -> None:
        with asyncio.Runner(loop_factory=partial(paced_loop, self._share)) as runner:
            runner.run(self._serve(owner, started))

    async def _serve(self, owner: asyncio.AbstractEventLoop, started: asyncio.Future[int]) -> None:
        port = await self._server.start()
        self._loop = asyncio.get_running_loop()
        if self._is_to_stop:  # its owner has seen no loop yet that it could tell
            self._stop.set()
        owner.call_soon_threadsafe(started.set_result, port)
        try:
            await self._server.until(self._stop)
        finally:
            await self._server.stop(self._grace)
