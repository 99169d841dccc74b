"""A call: attempts and pauses until there is an answer, an error that stays, or no time left."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from bailiff.client import given
from bailiff.client.errors import CLOSED, BailiffError, Failure, error_of
from bailiff.client.retrying import Attempts, Budget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

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
        self._closed = threading.Event()

    def close(self) -> None:
        """The client is about to close its connections: no call is made any more."""
        self._closed.set()

    @contextmanager
    def unless_closed(self) -> Iterator[None]:
        """Whatever goes wrong in a client that was closed is that it was closed.

        Each transport has words of its own for that, and none for it alone.
        """
        self._check_open(None)
        try:
            yield
        except Exception as error:
            self._check_open(error)
            raise

    def _check_open(self, error: BaseException | None) -> None:
        if self._closed.is_set():
            raise error_of(Failure(CLOSED, "the client has been closed")) from error

    def left(self, timeout: float | None) -> Callable[[], float]:
        """What is left of a timeout that begins now, for all that have one together.

        Args:
            timeout: in seconds; None: that of a call, as the client is set.

        Raises:
            TypeError, ValueError: it is no time.
        """
        deadline = self._deadline(timeout)
        return lambda: deadline - self._now()

    def _deadline(self, timeout: float | None) -> float:
        allowed = self._settings.timeout if timeout is None else timeout
        return self._now() + given.seconds(allowed, "timeout")

    def _begun(self, timeout: float | None) -> Attempts:
        settings = self._settings
        return Attempts(
            settings.retries,
            self._budget,
            deadline=self._deadline(timeout),
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
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """None made yet.

        Args:
            settings: of the client.
            bearer: of the client; a new token is a reason to ask again.
            now: an instant, in seconds; only differences count.
            sleep: waits so many seconds; None: or until the client is closed.
        """
        super().__init__(settings, bearer, now)
        self._sleep = sleep or self._closed.wait

    def make(self, attempt: Callable[[float], T], timeout: float | None) -> T:
        """What an attempt returns that succeeds.

        Args:
            attempt: is told how long it may take, in seconds.
            timeout: of the call, in seconds; None: as the client is set.

        Raises:
            BailiffError: of the last attempt.
            TypeError, ValueError: that is no timeout.
        """
        attempts = self._begun(timeout)
        while True:
            with self.unless_closed():
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
        self._waits: set[asyncio.Timeout] = set()

    def close(self) -> None:
        """See there; it ends all waits, too."""
        super().close()
        for wait in self._waits:
            # One that has ended is there until its task runs.
            if not wait.expired():
                wait.reschedule(0)

    @asynccontextmanager
    async def within(self, seconds: float | None) -> AsyncIterator[None]:
        """TimeoutError after so many seconds, and when the client is closed."""
        async with asyncio.timeout(0 if self._closed.is_set() else seconds) as wait:
            self._waits.add(wait)
            try:
                yield
            finally:
                self._waits.discard(wait)

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
            with self.unless_closed():
                seconds = attempts.begin(self._now())
                try:
                    answer = await attempt(seconds)
                except BailiffError as error:
                    async with self.within(None):
                        await asyncio.sleep(attempts.pause(error, self._now()))
                else:
                    attempts.answered()
                    return answer

    @contextmanager
    def unless_closed(self) -> Iterator[None]:
        """Calls of grpcio are cancelled, too, where their channel is closed."""
        with super().unless_closed():
            try:
                yield
            except asyncio.CancelledError as error:
                if not is_cancelled():
                    self._check_open(error)
                raise


def is_cancelled() -> bool:
    """Whether it is the present task that is to end, and not what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
