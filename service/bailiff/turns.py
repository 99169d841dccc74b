"""When a question is answered in a thread: a face answers all of them on one event loop.

It is asked twice. Before a question is read its bytes tell, as said here; once it is read, what its
answer costs (`Plan.is_quick`).
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import structlog

from bailiff.addresses import peer_of
from bailiff.line import Line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

T = TypeVar("T")

log = structlog.get_logger(__name__)

# Bytes that are read where they arrive. As JSON 30 ms of work at worst: 100 pods of a real cluster
# have fewer, and a thread would cost each of them a few per cent. As protobuf, which is read in
# Python, this many are about 20 ms.
LONG_JSON = 192 * 1024
LONG_PROTOBUF = 64 * 1024
# What an object of protobuf costs besides its bytes, in bytes: there may be many that are next to
# empty.
OBJECT = 128


class WaitedTooLongError(Exception):
    """No turn came in time: who asked is to be told to ask again later."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no turn came within {seconds:g} s")


# From which address is asked what the present task answers; the faces set it. Empty: a proxy's,
# which speaks for many.
ASKED_FROM: ContextVar[str] = ContextVar("asked from", default="")


class _Asked(NamedTuple):
    """Somebody who waits for a turn."""

    peer: str
    called: asyncio.Future[None]


class Turns:
    """For work that others have to wait for: few at a time, addresses in turns.

    One address has half of the turns at most, or whoever comes next would wait for as long as its
    work takes. Nobody is refused for how many wait, only for how long: where answers are quick many
    may wait, and whoever is answered at all is answered in time.
    """

    def __init__(self, at_a_time: int, longest: float = math.inf) -> None:
        """Nobody works yet.

        Args:
            at_a_time: how many work at a time.
            longest: seconds for which one waits.
        """
        self._free = at_a_time
        self._share = max(1, at_a_time // 2)
        self._taken_by: Counter[str] = Counter()
        # Those that have all that they may.
        self._sated: set[str] = set()
        self._longest = longest
        self._line: Line[_Asked] = Line()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Raises WaitedTooLongError: see there."""
        peer = peer_of(ASKED_FROM.get())
        if self._free and peer not in self._sated:  # then nobody waits who may begin
            self._take(peer)
        else:
            await self._wait(peer)
        try:
            yield
        finally:
            self._end(peer)

    async def _wait(self, peer: str) -> None:
        asked = _Asked(peer, asyncio.get_running_loop().create_future())
        self._line.add(peer, asked)
        try:
            async with asyncio.timeout(None if math.isinf(self._longest) else self._longest):
                await asked.called
        except BaseException as error:
            if asked.called.cancelled():
                self._line.remove(peer, asked)
            else:
                self._end(peer)  # it had its turn, and has no use for it any more
            if isinstance(error, TimeoutError):
                raise WaitedTooLongError(self._longest) from error
            raise

    def _take(self, peer: str) -> None:
        self._free -= 1
        self._taken_by[peer] += 1
        if peer and self._taken_by[peer] >= self._share:
            self._sated.add(peer)

    def _end(self, peer: str) -> None:
        """A turn is over: it goes to who is next."""
        self._free += 1
        self._sated.discard(peer)
        self._taken_by[peer] -= 1
        if not self._taken_by[peer]:
            del self._taken_by[peer]
        while self._free and (asked := self._next()):
            if not asked.called.done():  # else it was cancelled, and has not left yet
                self._take(asked.peer)
                asked.called.set_result(None)

    def _next(self) -> _Asked | None:
        try:
            return self._line.pop(but=self._sated)
        except IndexError:
            return None


def is_long_json(length: int) -> bool:
    """Whether a body of so many bytes is to be read in a thread, and answered there."""
    return length > LONG_JSON


def is_long_protobuf(length: int, objects: int = 0) -> bool:
    """Whether a message is to be read in a thread, and answered there.

    Args:
        length: of the message, in bytes.
        objects: how many it is about.
    """
    return length + OBJECT * objects > LONG_PROTOBUF


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:  # noqa: ANN401 - as work takes
    """What some work comes to, in a thread; raises what it raises.

    Nobody can stop a thread: whoever is cancelled meanwhile, however often, ends when the thread
    has, and keeps till then what bounds the number of those that work.
    """
    thread = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    cancelled = await outlast(thread)
    if cancelled is not None:
        # Nobody is left to be told of a refusal; a fault of ours is told in the log.
        fault = thread.exception()
        if fault is not None and not isinstance(fault, ValueError):
            log.error("failed for a caller that has gone", exc_info=fault)
        raise cancelled
    return thread.result()


async def outlast(work: asyncio.Future[T]) -> asyncio.CancelledError | None:
    """Wait until work has ended that nobody can stop, and only then be cancelled oneself.

    Returns:
        What was to cancel whoever waits, the last of them, to be raised; None: nothing was.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled
