"""Memory that nobody uses any more goes back to the system, when a process has grown.

glibc keeps what is freed, in a heap for each of the threads that allocate, and gives back only what
lies at a heap's end. grpcio's threads hold the messages of clients: after some seconds of stalled
ones a process kept 350 MB of which 20 were in use, and its container's limit counts all of them.
What does lie at the end it gives back at once, and has the kernel clear it anew for the next piece
of a body, which took half of the time in which long bodies were read.

Python frees most at once. What holds itself in a circle its garbage collector finds: the young
often, and the rest in full collections, which it makes by the number of new objects. A thousand
connections that come at once were reason for two of them, 100 ms each in which nobody was answered,
and which found nothing: connections hold no circle when they end. So a full collection, too, is
made when the process has grown, which is all that such circles could do.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import structlog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

log = structlog.get_logger(__name__)

_MIB = 1024 * 1024
_EVERY_SECONDS = 1.0
# Bytes by which a process has to have grown since it last gave back. Looking through the heaps
# takes 10 to 20 ms for some hundred MB; that is done in a thread, but whoever allocates meanwhile
# waits.
_MUCH = 128 * _MIB
# Bytes of growth that are enough after this many looks, or after twice as many and so on where
# there was nothing to give back, up to an hour.
_SOME, _LOOKS, _MOST_LOOKS = 32 * _MIB, 30, 3600
# Bytes that may lie free at a heap's end, and from which on a piece is no part of a heap: pieces of
# bodies have 256 KiB (mallopt(3), with the numbers of malloc.h).
_SETTINGS = {-1: 64 * _MIB, -3: 4 * _MIB}
_STATM = Path("/proc/self/statm")
# Collections of the middle generation before a full one that Python makes by itself: it never does.
_NEVER = 2**31 - 1


@contextlib.asynccontextmanager
async def giving_back_free_memory() -> AsyncIterator[None]:
    """Look every second whether the process has grown, where the system is Linux.

    glibc is asked to give back, where it is the C library. Full collections are made here alone.
    """
    if not _is_linux():
        yield
        return
    trim = trim_of_libc()
    if trim is not None:
        for setting, value in _SETTINGS.items():
            ctypes.CDLL(None).mallopt(setting, value)
    with open_statm() as statm, _no_full_collections():
        looking = asyncio.create_task(_look_after(trim or _nothing, statm))
        try:
            yield
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking


@contextlib.contextmanager
def _no_full_collections() -> Iterator[None]:
    first, second, third = gc.get_threshold()
    gc.set_threshold(first, second, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(first, second, third)


class Growth:
    """Tells when a process has grown so much that it is to give back: by much, or some for long.

    Whether what it has is in use nobody tells: where it was, and nothing could be given back, that
    is tried again after twice as long.
    """

    def __init__(self, resident: int) -> None:
        """From so many bytes on."""
        # The least that it ever had, and since it last gave back; what it had when it did.
        self._least = self._last = self._before = resident
        # Looks since it last gave back, and the number of them after which some growth is enough.
        self._looks, self._pause = 0, _LOOKS

    def look(self, resident: int) -> bool:
        """Whether it is time, now that the process has so many bytes; asked once a second."""
        self._looks += 1
        self._before = resident
        self._last, self._least = min(self._last, resident), min(self._least, resident)
        if self._looks >= self._pause:
            return resident >= self._least + _SOME
        return resident >= self._last + _MUCH

    def gave_back(self, resident: int) -> None:
        """So many bytes are left."""
        in_vain = self._looks >= self._pause and self._before - resident < _SOME
        self._pause = min(2 * self._pause, _MOST_LOOKS) if in_vain else _LOOKS
        self._last, self._looks = resident, 0


async def _look_after(trim: Callable[[], object], statm: BinaryIO) -> None:
    growth = Growth(resident_bytes(statm))
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        if growth.look(resident_bytes(statm)):
            # Not in a thread: what is found is ended there, and event loops' parts may not be.
            gc.collect()
            await _in_a_thread(trim)
            growth.gave_back(resident_bytes(statm))


async def _in_a_thread(trim: Callable[[], object]) -> None:
    """As soon as one can be started."""
    while True:
        try:
            await asyncio.to_thread(trim)
        except RuntimeError as error:
            log.warning("free memory is not given back yet", error=str(error))
            await asyncio.sleep(_EVERY_SECONDS)
        else:
            return


def _is_linux() -> bool:
    return _STATM.exists()


def open_statm() -> BinaryIO:
    """To be kept open: later on there may be no descriptor left."""
    return _STATM.open("rb", buffering=0)


def resident_bytes(statm: BinaryIO) -> int:
    """How much memory the process has, by /proc/self/statm (proc(5)), which may stay open."""
    statm.seek(0)
    return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def trim_of_libc() -> Callable[[], object] | None:
    """malloc_trim(3), which glibc has; None: there is another C library."""
    found = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if found is None else lambda: found(0)


def _nothing() -> None:
    """Another C library has its own ways."""
