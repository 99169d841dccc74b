"""Answers that are believed for some seconds, for those who ask the same again and again."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from bailiff.clock import Clock

V = TypeVar("V")


class _Answer(Generic[V]):
    """What was answered.

    Attributes:
        value: that.
        since: the instant from which it is believed.
        took: seconds for which one had to wait for it.
        is_given: somebody has had it.
    """

    def __init__(self, value: V, since: float, took: float) -> None:
        self.value = value
        self.since = since
        self.took = took
        self.is_given = False

    def give(self) -> V:
        self.is_given = True
        return self.value


class Kept(Generic[V]):
    """The last answers. Those who ask at the same time share one question. One loop owns it.

    A question goes on though whoever asked it gives up: the next one finds its answer. Failures are
    not kept.
    """

    def __init__(
        self,
        clock: Clock,
        seconds: float,
        stale: float = 0.0,
        most: int = 1000,
        times_as_long: float = 0.0,
        ungiven: float = 0.0,
    ) -> None:
        """Keep nothing yet.

        Args:
            clock: for the age of answers.
            seconds: for which an answer is believed.
            stale: seconds more for which it is given while it is asked for anew.
            most: answers that are kept; the oldest go first.
            times_as_long: an answer is believed for so many times as long as it took to be had,
                where that is more: what is costly is asked for less often.
            ungiven: seconds for which an answer is kept that came when nobody waited any more. It
                is believed from when the first one has it.
        """
        self._clock = clock
        self._seconds = seconds
        self._stale = stale
        self._most = most
        self._times_as_long = times_as_long
        self._ungiven = ungiven
        self._answers: dict[Hashable, _Answer[V]] = {}
        self._asking: dict[Hashable, asyncio.Task[_Answer[V]]] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[V]]) -> V:
        """The answer for a key.

        Args:
            key: of the question.
            ask: asks it; what it raises is raised here.
        """
        answer = self._answers.get(key)
        left = -math.inf if answer is None else self._left(answer)
        if answer is not None and left > 0:
            return answer.give()
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.create_task(self._ask(key, ask))
            # What nobody waits for any more may fail unseen.
            task.add_done_callback(lambda one: one.cancelled() or one.exception())
        if answer is not None and left + self._stale > 0:
            return answer.give()
        return (await asyncio.shield(task)).give()

    def _left(self, answer: _Answer[V]) -> float:
        """Seconds for which it is believed yet."""
        now = self._clock.monotonic()
        if not answer.is_given and now - answer.since < self._ungiven:
            answer.since = now
        believed = max(self._seconds, self._times_as_long * answer.took)
        return believed - (now - answer.since)

    async def _ask(self, key: Hashable, ask: Callable[[], Awaitable[V]]) -> _Answer[V]:
        began = self._clock.monotonic()
        try:
            value = await ask()
        finally:
            del self._asking[key]
        now = self._clock.monotonic()
        self._answers.pop(key, None)
        answer = self._answers[key] = _Answer(value, now, now - began)
        while len(self._answers) > self._most:
            del self._answers[next(iter(self._answers))]
        return answer
