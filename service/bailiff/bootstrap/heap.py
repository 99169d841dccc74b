"""Memory that nobody uses any more goes back to the system.

glibc keeps what is freed, in a heap for each of the threads that allocate, and gives back only what
lies at a heap's end. grpcio's threads hold the messages of clients: after some seconds of stalled
ones a process kept 350 MB of which 20 were in use, and its container's limit counts all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_EVERY_SECONDS = 1.0
# Bytes by which a process has to have grown since it last gave back: looking through the heaps
# takes 10 to 20 ms, in a thread, for some hundred MB.
_WORTH = 32 * 1024 * 1024
_STATM = Path("/proc/self/statm")


@contextlib.asynccontextmanager
async def giving_back_free_memory() -> AsyncIterator[None]:
    """Look every second whether the process has grown, where the system is Linux with glibc."""
    trim = trim_of_libc()
    if trim is None:
        yield
        return
    looking = asyncio.create_task(look_after(trim, resident_bytes))
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def look_after(
    trim: Callable[[], object], resident: Callable[[], int], every: float = _EVERY_SECONDS
) -> None:
    """Give free memory back whenever the process has grown, for good.

    Args:
        trim: gives it back; called in a thread.
        resident: tells how many bytes of memory the process has.
        every: seconds between two looks.
    """
    least = resident()
    while True:
        await asyncio.sleep(every)
        if resident() >= least + _WORTH:
            await asyncio.to_thread(trim)
            least = resident()
        least = min(least, resident())


def resident_bytes() -> int:
    """How much memory the process has (proc(5), /proc/self/statm)."""
    return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def trim_of_libc() -> Callable[[], object] | None:
    """malloc_trim(3), which glibc has; None: there is another C library, or no /proc."""
    found = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if found is None or not _STATM.exists() else lambda: found(0)
