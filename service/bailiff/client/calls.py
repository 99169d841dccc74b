"""A call: attempts and pauses until there is an answer, an error that stays, or no time left."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from bailiff.client.errors import BailiffError
from bailiff.client.retrying import Attempts, Budget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.client.settings import ClientSettings
    from bailiff.client.tokens import Bearer

T = TypeVar("T")


class _Terms:
    """What all calls of a client have in common."""

    def __init__(self, settings: ClientSettings, bearer: Bearer, now: Callable[[], float]) -> None:
        self._settings = settings
        self._bearer = bearer
        self._budget = Budget(settings.retries.budget)
        self._now = now

    def left(self, timeout: float | None) -> Callable[[], float]:
        """What is left of a timeout that begins now, for all that have one together.

        Args:
            timeout: in seconds; None: that of a call, as the client is set.
        """
        deadline = self._now() + (self._settings.timeout if timeout is None else timeout)
        return lambda: deadline - self._now()

    def _begun(self, timeout: float | None) -> Attempts:
        settings = self._settings
        return Attempts(
            settings.retries,
            self._budget,
            deadline=self._now() + (settings.timeout if timeout is None else timeout),
            each=settings.attempt_timeout,
            renewed=self._bearer.renewed,
        )


class Calls(_Terms):
    """The calls of a client without `await`. Threads share it."""

    def __init__(
        self,
        settings: ClientSettings,
        bearer: Bearer,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """None made yet.

        Args:
            settings: of the client.
            bearer: of the client; a new token is a reason to ask again.
            now: an instant, in seconds; only differences count.
            sleep: waits so many seconds.
        """
        super().__init__(settings, bearer, now)
        self._sleep = sleep

    def make(self, attempt: Callable[[float], T], timeout: float | None) -> T:
        """What an attempt returns that succeeds.

        Args:
            attempt: is told how long it may take, in seconds.
            timeout: of the call, in seconds; None: as the client is set.

        Raises:
            BailiffError: of the last attempt.
        """
        attempts = self._begun(timeout)
        while True:
            seconds = attempts.begin(self._now())
            try:
                answer = attempt(seconds)
            except BailiffError as error:
                self._sleep(attempts.pause(error, self._now()))
            else:
                attempts.answered()
                return answer


class AsyncCalls(_Terms):
    """The calls of a client with `await`, timed by the clock of the event loop it belongs to."""

    def __init__(self, settings: ClientSettings, bearer: Bearer) -> None:
        """None made yet, and of no loop."""
        super().__init__(settings, bearer, lambda: self.loop().time())
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that runs, to which the client belongs from its first use on.

        Raises:
            RuntimeError: it belongs to another. Connections and locks would fail later, or hang.
        """
        running = asyncio.get_running_loop()
        self._loop = self._loop or running
        if running is not self._loop:
            raise RuntimeError(
                "this client was used in another event loop, to which its connections belong:"
                " make one in each loop"
            )
        return running

    async def make(self, attempt: Callable[[float], Awaitable[T]], timeout: float | None) -> T:
        """As that of `Calls`."""
        attempts = self._begun(timeout)
        while True:
            seconds = attempts.begin(self._now())
            try:
                answer = await attempt(seconds)
            except BailiffError as error:
                await asyncio.sleep(attempts.pause(error, self._now()))
            else:
                attempts.answered()
                return answer
