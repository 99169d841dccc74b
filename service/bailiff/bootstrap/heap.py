"""Memory that nobody uses any more goes back to the system, but not at each turn.

glibc keeps what is freed, in a heap for each of the threads that allocate, and gives back only what
lies at a heap's end. grpcio's threads hold the messages of clients: after some seconds of stalled
ones a process kept 350 MB of which 20 were in use, and its container's limit counts all of them.
What does lie at the end it gives back at once, and has the kernel clear it anew for the next piece
of a body, which took half of the time in which long bodies were read.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import structlog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

log = structlog.get_logger(__name__)

_MIB = 1024 * 1024
_EVERY_SECONDS = 1.0
# Bytes by which a process has to have grown since it last gave back, and after so many looks.
# Looking through the heaps takes 10 to 20 ms for some hundred MB. That is done in a thread, but
# whoever allocates meanwhile waits.
_MUCH, _SOME, _LOOKS = 128 * _MIB, 32 * _MIB, 30
# Bytes that may lie free at a heap's end, and from which on a piece is no part of a heap: pieces of
# bodies have 256 KiB (mallopt(3), with the numbers of malloc.h).
_SETTINGS = {-1: 64 * _MIB, -3: 4 * _MIB}
_STATM = Path("/proc/self/statm")


@contextlib.asynccontextmanager
async def giving_back_free_memory() -> AsyncIterator[None]:
    """Look every second whether the process has grown, where the system is Linux with glibc."""
    trim = trim_of_libc()
    if trim is None:
        yield
        return
    for setting, value in _SETTINGS.items():
        ctypes.CDLL(None).mallopt(setting, value)
    with open_statm() as statm:
        looking = asyncio.create_task(_look_after(trim, statm))
        try:
            yield
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking


class Growth:
    """Tells when a process has grown so much that it is to give back: by much, or some for long."""

    def __init__(self, resident: int) -> None:
        """From so many bytes on."""
        self._least = resident
        self._looks = 0

    def look(self, resident: int) -> bool:
        """Whether it is time, now that the process has so many bytes; asked once a second."""
        self._looks += 1
        if resident >= self._least + (_MUCH if self._looks < _LOOKS else _SOME):
            return True
        self._least = min(self._least, resident)
        return False

    def gave_back(self, resident: int) -> None:
        """So many bytes are left."""
        self._least, self._looks = resident, 0


async def _look_after(trim: Callable[[], object], statm: BinaryIO) -> None:
    growth = Growth(resident_bytes(statm))
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        if not growth.look(resident_bytes(statm)):
            continue
        try:
            await asyncio.to_thread(trim)
        except RuntimeError as error:  # no thread can be started
            log.warning("free memory is not given back yet", error=str(error))
        else:
            growth.gave_back(resident_bytes(statm))


def open_statm() -> BinaryIO:
    """To be kept open: later on there may be no descriptor left."""
    return _STATM.open("rb", buffering=0)


def resident_bytes(statm: BinaryIO) -> int:
    """How much memory the process has, by /proc/self/statm (proc(5)), which may stay open."""
    statm.seek(0)
    return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def trim_of_libc() -> Callable[[], object] | None:
    """malloc_trim(3), which glibc has; None: there is another C library, or no /proc."""
    found = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if found is None or not _STATM.exists() else lambda: found(0)
