"""How questions leave each other their turn: a face answers all of them on one event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
A = TypeVarTuple("A")

# About half a millisecond of work, after which other calls get their turn.
PODS_A_TURN = 100
# Bytes of a question; what is longer is worked on in a thread. About 20 ms of work where objects
# come as protobuf, a tenth of that as JSON, of which a thread costs a few per cent.
LONG = 64 * 1024


async def aside(size: int, work: Callable[[Unpack[A]], T], *args: *A) -> T:
    """Do a piece of work that cannot be cut into turns, in a thread if it is long.

    Args:
        size: length in bytes of the question that the work is for.
        work: what to do; raises what it likes.
        args: for `work`.
    """
    if size <= LONG:
        return work(*args)
    return await asyncio.to_thread(work, *args)
