"""Where other threads leave what they want to see of the worker, and how often it is taken.

A snapshot is taken by the worker's own loop, since nobody else may look at what it owns. So each
one costs the worker time, and strangers ask for it. Whoever asks waits in a line; each line is
served one at a time, and rests after each for so long that it takes a small share of the loop's
time, however many ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import types
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bailiff.worker.observe.wanted import Line, Taken, line_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator

    from bailiff.worker.observe.wanted import Wanted

T = TypeVar("T")

# Of the time of the worker's loop. A walk through 100,000 evictions takes 20 to 40 ms, so what is
# asked for always is less than a second old with 150,000.
_SHARES = {Line.USUAL: 1 / 20, Line.NAMED: 1 / 50, Line.OTHER: 1 / 20}


class _Asked(NamedTuple):
    wanted: Wanted
    loop: asyncio.AbstractEventLoop
    reply: asyncio.Future[Taken]

    def answer(self, settle: Callable[[], None]) -> None:
        """Settle the reply in its own loop."""
        with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits there any more
            self.loop.call_soon_threadsafe(_unless_given_up, self.reply, settle)


class Desk:
    """Takes snapshots for other threads. Made and run in the worker's loop."""

    def __init__(self, take: Callable[[Wanted], Coroutine[Any, Any, Taken]]) -> None:
        """Prepare.

        Args:
            take: takes one, in the worker's loop; it waits for nothing but its next turn.
        """
        self._take = take
        self._loop = asyncio.get_running_loop()
        # Who asks sees to it that few wait: to refuse them here would cost the loop time, too.
        self._lines: dict[Line, asyncio.Queue[_Asked]] = {line: asyncio.Queue() for line in Line}

    async def run(self) -> None:
        """Serve all lines until cancelled."""
        async with asyncio.TaskGroup() as group:
            for line in Line:
                group.create_task(self._serve(line), name=f"desk {line.value}")

    async def ask(self, wanted: Wanted) -> Taken:
        """A snapshot that is taken after this was called; from any loop of any thread."""
        here = asyncio.get_running_loop()
        asked = _Asked(wanted, here, here.create_future())
        line = self._lines[line_of(wanted)]
        self._loop.call_soon_threadsafe(line.put_nowait, asked)
        return await asked.reply

    async def _serve(self, line: Line) -> None:
        while True:
            asked = await self._lines[line].get()
            if asked.reply.cancelled():
                continue
            spent = _Spent()
            await self._serve_one(asked, spent)
            await asyncio.sleep(spent.seconds / _SHARES[line] - spent.seconds)

    async def _serve_one(self, asked: _Asked, spent: _Spent) -> None:
        reply = asked.reply
        try:
            taken = await spent.on(self._take(asked.wanted))
        except Exception as error:  # noqa: BLE001 - told to whoever has asked; evictions go on
            failure = error
            asked.answer(lambda: reply.set_exception(failure))
        else:
            asked.answer(lambda: reply.set_result(taken))


class _Spent:
    """Measures the CPU time that a coroutine takes, that of others between its turns apart."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def on(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Do it, and count."""
        return self._turns(work)

    @types.coroutine
    def _turns(self, work: Coroutine[Any, Any, T]) -> Generator[Any, None, T]:
        try:
            while True:
                began = time.thread_time()
                try:
                    turn = work.send(None)
                except StopIteration as end:
                    result: T = end.value
                    return result
                finally:
                    self.seconds += time.thread_time() - began
                yield turn
        finally:
            work.close()


def _unless_given_up(reply: asyncio.Future[Taken], settle: Callable[[], None]) -> None:
    if not reply.done():
        settle()
