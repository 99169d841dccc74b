"""Questions to the API server about callers: each asked once, and its answer kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

from bailiff.access.errors import QuotaError, UnavailableError
from bailiff.access.kept import Kept
from bailiff.cluster import ClusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from bailiff.access.metrics import ReviewMetrics
    from bailiff.access.settings import AccessSettings
    from bailiff.clock import Clock

V = TypeVar("V")

_RETRY_SECONDS = 1
_AWAY = "the API server cannot be asked now who asks, or what it may"


class Denied:
    """The API server's no."""


DENIED = Denied()


class Turns:
    """How many questions are asked at a time, of all kinds together, and how many may wait.

    What one address may have waiting is bounded besides, so that it cannot be in everybody's way
    by tokens that it makes up.
    """

    def __init__(self, settings: AccessSettings) -> None:
        """Nobody waits yet."""
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.max_reviews)
        self._waiting: Counter[str] = Counter()

    async def take(self, peer: str, work: Callable[[], Awaitable[V]]) -> V:
        """What some work comes to, once it has its turn.

        Raises:
            UnavailableError: too many wait already, or it was not done in time.
            QuotaError: too many of this address wait.
        """
        self._check(peer)
        self._waiting[peer] += 1
        try:
            async with asyncio.timeout(self._settings.review_timeout_seconds), self._turns:
                return await work()
        except TimeoutError as error:
            seconds = self._settings.review_timeout_seconds
            why = f"the API server has not said within {seconds:g} s who asks or what it may"
            raise UnavailableError(why, _RETRY_SECONDS) from error
        finally:
            self._waiting[peer] -= 1
            if not self._waiting[peer]:
                del self._waiting[peer]

    def _check(self, peer: str) -> None:
        if self._waiting.total() >= self._settings.max_waiting:
            why = "too many callers wait for the API server to say who they are"
            raise UnavailableError(why, _RETRY_SECONDS)
        if self._waiting[peer] >= self._settings.max_waiting_per_peer:
            why = "too many requests of this address wait for the API server to say who asks"
            raise QuotaError(why, _RETRY_SECONDS)


class Reviews(Generic[V]):
    """One kind of question, by a key that stands for its subject."""

    def __init__(
        self, turns: Turns, clock: Clock, settings: AccessSettings, metrics: ReviewMetrics
    ) -> None:
        """Prepare.

        Args:
            turns: shared by all kinds.
            clock: for how long answers are kept, and for durations.
            settings: for how long, and how many.
            metrics: of this kind.
        """
        self._turns = turns
        self._clock = clock
        self._metrics = metrics
        self._allowed = Kept[V](settings.allowed_seconds, settings.max_kept)
        self._denied = Kept[Denied](settings.denied_seconds, settings.max_kept)
        self._under_way: dict[Hashable, asyncio.Task[V | Denied]] = {}

    def kept(self, key: Hashable, now: float) -> V | Denied | None:
        """The answer that is kept; None: the API server has to be asked."""
        answer = self._allowed.get(key, now) or self._denied.get(key, now)
        if answer is not None:
            self._metrics.kept += 1
        return answer

    async def ask(
        self, key: Hashable, peer: str, review: Callable[[], Awaitable[V | Denied]]
    ) -> V | Denied:
        """The answer of a review, which is under way once for a key, however many wait for it.

        Args:
            key: of what is asked about.
            peer: the address that asks.
            review: asks; raises ClusterError.

        Raises:
            UnavailableError: the API server cannot be asked, or did not answer in time. Not kept.
            QuotaError: see Turns.
        """
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._review(key, peer, review), name="access review")
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        try:
            # Who gives up takes the answer from nobody else.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise UnavailableError("nobody is asked any more who asks: stopping") from None
            raise

    def _ended(self, key: Hashable, task: asyncio.Task[V | Denied]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # whoever waited may have gone, and then nobody has looked at it

    async def _review(
        self, key: Hashable, peer: str, review: Callable[[], Awaitable[V | Denied]]
    ) -> V | Denied:
        begun = self._clock.monotonic()
        try:
            answer = await self._turns.take(peer, review)
        except ClusterError as error:
            self._metrics.observe("failed", self._clock.monotonic() - begun)
            # What happened is the operator's business, and told in the log.
            raise UnavailableError(_AWAY, _RETRY_SECONDS) from error
        except UnavailableError:
            self._metrics.observe("failed", self._clock.monotonic() - begun)
            raise
        denied = isinstance(answer, Denied)
        self._metrics.observe("denied" if denied else "allowed", self._clock.monotonic() - begun)
        self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: V | Denied) -> None:
        now = self._clock.elapsed()
        if isinstance(answer, Denied):
            self._allowed.drop(key)
            self._denied.put(key, answer, now)
        else:
            self._denied.drop(key)
            self._allowed.put(key, answer, now)

    async def close(self) -> None:
        """Ask no more; whoever waits is cancelled."""
        tasks = [*self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
