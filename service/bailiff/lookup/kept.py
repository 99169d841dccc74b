"""Answers that are kept for some seconds, for those who ask the same again and again."""

from __future__ import annotations

import asyncio
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import structlog

from bailiff.lookup.errors import LookUpError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from contextlib import AbstractAsyncContextManager

    from bailiff.clock import Clock

V = TypeVar("V")

log = structlog.get_logger(__name__)

_ANY_NUMBER: AbstractAsyncContextManager[None] = nullcontext()


class Age(NamedTuple):
    """How old an answer may be for who asks.

    Attributes:
        seconds: for which it is believed, from when it came.
        times_as_long: it is believed for so many times as long as it took to be had, where that is
            more: what is costly is asked for less often.
        stale: seconds more for which it is given where a new one is not had in time.
        ungiven: seconds for which an answer is kept that came when nobody waited any more. It is
            believed from when the first one has it.
    """

    seconds: float
    times_as_long: float = 0.0
    stale: float = 0.0
    ungiven: float = 0.0


FOR_EVER = Age(math.inf)


class Answer(Generic[V]):
    """What was answered; each is equal to itself alone.

    Attributes:
        value: that.
        began: the instant at which it was asked for, so that all that was before is in it.
        took: seconds until it came.
    """

    def __init__(self, value: V, began: float, came: float) -> None:
        """It came now, and nobody has it."""
        self.value = value
        self.began = began
        self.took = came - began
        self._since = came
        self._is_given = False

    def give(self) -> Answer[V]:
        """Somebody has it from now on."""
        self._is_given = True
        return self

    def left(self, age: Age, now: float) -> float:
        """Seconds for which it is believed yet."""
        if not self._is_given and now - self._since < age.ungiven:
            self._since = now
        return max(age.seconds, age.times_as_long * self.took) - (now - self._since)


class _Asking(Generic[V]):
    """A question that is under way.

    Attributes:
        task: what comes of it.
        waiting: how many wait for that.
        has_turn: it has been begun in earnest.
    """

    task: asyncio.Task[Answer[V]]

    def __init__(self) -> None:
        self.waiting = 0
        self.has_turn = False


class Kept(Generic[V]):
    """The last answers. Those who ask at the same time share one question. One loop owns it.

    A question goes on though whoever asked it gives up: the next one finds its answer. Only one
    that has not had its turn by then is given up. Failures are told to all who wait, and not kept.
    """

    def __init__(
        self,
        clock: Clock,
        most: int = 1000,
        weigh: Callable[[V], int] = lambda _: 1,
        turns: AbstractAsyncContextManager[object] = _ANY_NUMBER,
    ) -> None:
        """Keep nothing yet.

        Args:
            clock: for the age of answers.
            most: weight of all answers that are kept; the oldest go first.
            weigh: an answer; without, each weighs 1.
            turns: in which questions are asked; default: all at once.
        """
        self._clock = clock
        self._most = most
        self._weigh = weigh
        self._turns = turns
        self._weight = 0
        self._answers: dict[Hashable, Answer[V]] = {}
        self._asking: dict[Hashable, _Asking[V]] = {}

    async def get(
        self, key: Hashable, ask: Callable[[], Awaitable[V]], age: Age, patience: float = 0.0
    ) -> V:
        """The value of `answer`."""
        return (await self.answer(key, ask, age, patience)).value

    async def answer(
        self, key: Hashable, ask: Callable[[], Awaitable[V]], age: Age, patience: float = 0.0
    ) -> Answer[V]:
        """The answer for a key.

        Args:
            key: of the question.
            ask: asks it; what it raises is raised here.
            age: how old it may be.
            patience: seconds to wait for a new one where a stale one would do.
        """
        known, stale = self._answers.get(key), None
        if known is not None:
            left = known.left(age, self._clock.monotonic())
            if left > 0:
                return known.give()
            stale = known if left + age.stale > 0 else None
        try:
            async with asyncio.timeout(None if stale is None else patience):
                return await self.anew(key, ask)
        except (LookUpError, TimeoutError):
            if stale is None:
                raise
            return stale.give()

    async def anew(self, key: Hashable, ask: Callable[[], Awaitable[V]]) -> Answer[V]:
        """What comes of the question that is under way, or else of a new one."""
        asking = self._asking.get(key) or self._begin(key, ask)
        asking.waiting += 1
        try:
            return (await asyncio.shield(asking.task)).give()
        finally:
            asking.waiting -= 1
            if not asking.waiting and not asking.has_turn:
                self._end(key, asking)
                asking.task.cancel()

    def _begin(self, key: Hashable, ask: Callable[[], Awaitable[V]]) -> _Asking[V]:
        asking = self._asking[key] = _Asking()
        asking.task = asyncio.create_task(self._ask(key, ask, asking))
        # What nobody waits for any more may fail unseen.
        asking.task.add_done_callback(lambda one: one.cancelled() or one.exception())
        return asking

    def _end(self, key: Hashable, asking: _Asking[V]) -> None:
        if self._asking.get(key) is asking:
            del self._asking[key]

    async def _ask(
        self, key: Hashable, ask: Callable[[], Awaitable[V]], asking: _Asking[V]
    ) -> Answer[V]:
        began = self._clock.monotonic()
        try:
            async with self._turns:
                asking.has_turn = True
                value = await ask()
        except (LookUpError, TimeoutError):
            raise
        except Exception:
            if not asking.waiting:
                log.exception("failed when nobody waited for it any more")
            raise
        finally:
            self._end(key, asking)
        answer = Answer(value, began, self._clock.monotonic())
        self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: Answer[V]) -> None:
        self._drop(key)
        self._answers[key] = answer
        self._weight += self._weigh(answer.value)
        while self._weight > self._most:
            self._drop(next(iter(self._answers)))

    def _drop(self, key: Hashable) -> None:
        dropped = self._answers.pop(key, None)
        if dropped is not None:
            self._weight -= self._weigh(dropped.value)
