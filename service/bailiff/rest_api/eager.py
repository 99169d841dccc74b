"""Taking a coroutine's first step at once, to see whether it waits at all.

Nearly every body is there when its request begins. A timer for each of them costs more than
decoding it; so the timer is set only for a body that is really waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

T = TypeVar("T")


class Begun(Generic[T]):
    """An awaitable after its first step.

    Attributes:
        finished: it did not wait; its result is there.
    """

    __slots__ = ("_steps", "_waits_for", "finished", "result")

    def __init__(self, awaitable: Awaitable[T]) -> None:
        """Take the first step; raises what that raises."""
        self._steps = awaitable.__await__()
        self._waits_for: object = None
        self.finished = False
        self._advance(self._steps.send, None)

    def __await__(self) -> Generator[Any, Any, T]:
        """Go on from the first step. Once only, and in the task that took it."""
        while not self.finished:
            try:
                sent = yield self._waits_for
            except BaseException as error:  # noqa: BLE001 - handed on: a coroutine sees its own cancelling
                self._advance(self._steps.throw, error)
            else:
                self._advance(self._steps.send, sent)
        return self.result

    def _advance(self, step: Callable[[Any], Any], sent: object) -> None:
        try:
            self._waits_for = step(sent)
        except StopIteration as end:
            self.result: T = end.value
            self.finished = True
