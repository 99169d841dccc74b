"""Long work in short steps, so that a loop with 150,000 pods renews its Lease in time."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterable, Iterator

T = TypeVar("T")

# Items of a slice: at up to 10 us each a step stays below 10 ms.
SLICE = 1000


def slices(items: Iterable[T], size: int = SLICE) -> Iterator[list[T]]:
    """The items in lists of `size`, 1 and up; the last may be shorter."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


async def in_slices(items: Iterable[T], size: int = SLICE) -> AsyncGenerator[list[T], None]:
    """The items in slices; between two of them all other tasks have a turn.

    Args:
        items: a tuple, or a copy: what others may change meanwhile cannot be gone through.
        size: the most items of a slice, 1 and up.
    """
    for number, part in enumerate(slices(items, size)):
        if number:
            await asyncio.sleep(0)
        yield part


async def in_turns(parts: Generator[None, None, T]) -> T:
    """What comes of work that is done in parts; after each all other tasks have a turn."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            result: T = end.value
            return result
        await asyncio.sleep(0)
