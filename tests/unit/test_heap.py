"""Memory that nobody uses any more goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes

import pytest

from bailiff.bootstrap.heap import look_after, resident_bytes, trim_of_libc

MIB = 1024 * 1024


async def times_trimmed(sizes: list[int], after: int) -> int:
    """How often a process gave back that had these sizes, one a look, and `after` once it had."""
    trimmed, left = list[int](), list(sizes)

    def resident() -> int:
        return after if trimmed else left[0]

    async def look() -> None:
        await look_after(lambda: trimmed.append(left[0]), resident, every=0)

    looking = asyncio.create_task(look())
    for _ in sizes[1:]:
        await asyncio.sleep(0.02)
        left.pop(0)
    await asyncio.sleep(0.02)
    looking.cancel()
    return len(trimmed)


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([100, 110, 120, 131], 0),
        ([100, 110, 132], 1),
        # What it shrinks to by itself is what it grows from.
        ([100, 60, 92], 1),
        ([100, 60, 91], 0),
    ],
)
async def test_a_process_that_has_grown_by_much_gives_back(sizes: list[int], times: int) -> None:
    assert await times_trimmed([size * MIB for size in sizes], after=100 * MIB) == times


@pytest.mark.skipif(trim_of_libc() is None, reason="only glibc can be asked to give back")
def test_what_lies_between_what_is_used_is_given_back() -> None:
    libc, trim = ctypes.CDLL(None), trim_of_libc()
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    assert trim is not None
    before, size = resident_bytes(), 16 * 1024
    pieces = [libc.malloc(size) for _ in range(8000)]
    for piece in pieces:
        ctypes.memset(piece, 1, size)
    for number, piece in enumerate(pieces):
        if number % 16:
            libc.free(piece)
    assert resident_bytes() > before + 64 * MIB
    trim()
    assert resident_bytes() < before + 32 * MIB
    for piece in pieces[::16]:
        libc.free(piece)
