"""What takes long is done in a thread: few at a time, and none that would take too many bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.kinds.decoding import OBJECTS_OF_JSON
from bailiff.serving.bounds import OverloadedError
from bailiff.turns import Turns, WaitedTooLongError, in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.serving.byte_budget import ByteBudget

T = TypeVar("T")

# An answer comes to half as much again as its plan tells.
_WRITTEN = 1.5


class Threads:
    """Where questions are answered that others should not have to wait behind."""

    def __init__(self, at_a_time: int, max_queue_age: float, budget: ByteBudget) -> None:
        """Nothing is done yet.

        Args:
            at_a_time: how many work at a time.
            max_queue_age: seconds that one waits for its turn.
            budget: of the bytes that they hold meanwhile.
        """
        self._turns = Turns(at_a_time, max_queue_age)
        self._budget = budget

    async def run(
        self, work: Callable[..., T], *arguments: object, read: int = 0, written: int = 0
    ) -> T:
        """What some work comes to, in a thread, when it is its turn.

        Args:
            work: raises what this raises.
            arguments: of it.
            read: bytes of what it decodes, as JSON.
            written: bytes of what it answers at most, as JSON.

        Raises:
            OverloadedError: its turn did not come in time, or there is no room for its bytes.
        """
        count = read * OBJECTS_OF_JSON + int(written * _WRITTEN)
        try:
            async with self._turns.turn():
                return await self._within_budget(count, work, *arguments)
        except WaitedTooLongError as error:
            raise OverloadedError(f"others take long, and {error}") from error

    async def _within_budget(self, count: int, work: Callable[..., T], *arguments: object) -> T:
        if count and not self._budget.take(count, long=True):
            raise OverloadedError
        try:
            return await in_thread(work, *arguments)
        finally:
            self._budget.give_back(count)
