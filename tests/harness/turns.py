"""Coroutines that only give others their turn, driven by hand: no loop, and no chance about order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator


def turns(work: Coroutine[Any, Any, None]) -> Iterator[None]:
    """Stops wherever the work gives others their turn."""
    while True:
        try:
            work.send(None)
        except StopIteration:
            return
        yield


def straight_through(work: Coroutine[Any, Any, None]) -> None:
    """All of it, with nobody else in between."""
    for _ in turns(work):
        pass
