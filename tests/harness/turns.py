"""Coroutines that only give others their turn, driven by hand, so that order is no chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

T = TypeVar("T")


def turns(work: Coroutine[Any, Any, T]) -> Generator[None, None, T]:
    """Stops wherever the work gives others their turn; returns what the work does."""
    while True:
        try:
            work.send(None)
        except StopIteration as end:
            result: T = end.value
            return result
        yield


def straight_through(work: Coroutine[Any, Any, T]) -> T:
    """All of it, with nobody else in between."""
    stops = turns(work)
    while True:
        try:
            next(stops)
        except StopIteration as end:
            result: T = end.value
            return result
