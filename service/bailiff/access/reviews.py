"""Questions to the API server about callers: each asked once, and its answer kept."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import structlog

from bailiff.access.errors import AccessError, UnavailableError
from bailiff.access.kept import Kept
from bailiff.access.turns import RETRY_SECONDS
from bailiff.cluster import ClusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from bailiff.access.metrics import ReviewMetrics
    from bailiff.access.settings import AccessSettings
    from bailiff.access.turns import Turns
    from bailiff.clock import Clock

V = TypeVar("V")

_AWAY = "the API server cannot be asked now who asks, or what it may"

log = structlog.get_logger(__name__)


class Denied:
    """The API server's no."""


DENIED = Denied()


class Reviews(Generic[V]):
    """One kind of question, by a key that stands for its subject."""

    def __init__(
        self,
        turns: Turns,
        clock: Clock,
        settings: AccessSettings,
        metrics: ReviewMetrics,
        owner: Callable[[Hashable, V | Denied], str],
    ) -> None:
        """Prepare.

        Args:
            turns: shared by all kinds.
            clock: for how long answers are kept, and for durations.
            settings: for how long, and how many.
            metrics: of this kind.
            owner: the name of the caller whom an answer is about; "" where that is not known.
        """
        self._turns = turns
        self._clock = clock
        self._metrics = metrics
        self._owner = owner
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
        self,
        key: Hashable,
        peer: str,
        review: Callable[[], Awaitable[V | Denied]],
        *,
        known: bool = False,
    ) -> V | Denied:
        """The answer of a review, which is under way once for a key, however many wait for it.

        Args:
            key: of what is asked about.
            peer: who asks, by `peer_of`; of a caller who is known its name.
            review: asks; raises ClusterError.
            known: whether it is about such a caller.

        Raises:
            UnavailableError: the API server cannot be asked, or did not answer in time. Not kept.
            QuotaError: see Turns.
        """
        task = self._under_way.get(key) or self._start(key, peer, review, known)
        try:
            # Shielded: where one of several that wait for the task is cancelled, the others still
            # get its answer.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise UnavailableError(
                    "no more callers are looked up: this process stops"
                ) from None
            raise

    def is_due(self, key: Hashable, now: float) -> bool:
        """Whether an allowed answer is kept that lapses soon: who uses it then has it renewed."""
        return self._allowed.is_due(key, now)

    def renew(
        self, key: Hashable, caller: str, review: Callable[[], Awaitable[V | Denied]]
    ) -> None:
        """Ask again in the background; where that fails the kept answer lapses when it would have.

        Args:
            key: of what is asked about.
            caller: the name of whom it is about.
            review: see `ask`.
        """
        if key not in self._under_way:
            self._start(key, caller, review, known=True)

    def _start(
        self,
        key: Hashable,
        peer: str,
        review: Callable[[], Awaitable[V | Denied]],
        known: bool,
    ) -> asyncio.Task[V | Denied]:
        work = self._review(key, partial(self._turns.take, peer, review, known=known))
        task = self._under_way[key] = asyncio.create_task(work, name="access review")
        task.add_done_callback(lambda done: self._ended(key, done))
        return task

    def _ended(self, key: Hashable, task: asyncio.Task[V | Denied]) -> None:
        del self._under_way[key]
        # Read here, since those that waited for the task may have gone, and a renewal has none: an
        # exception that is never read is logged by asyncio, as one that nobody has handled.
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AccessError):
            log.error("the review of a caller failed", exc_info=error)

    async def _review(
        self, key: Hashable, in_turn: Callable[[], Awaitable[V | Denied]]
    ) -> V | Denied:
        begun = self._clock.monotonic()
        try:
            answer = await in_turn()
        except ClusterError as error:
            self._metrics.observe("failed", self._clock.monotonic() - begun)
            # What happened is the operator's business, and told in the log.
            raise UnavailableError(_AWAY, RETRY_SECONDS) from error
        except UnavailableError:
            self._metrics.observe("failed", self._clock.monotonic() - begun)
            raise
        denied = isinstance(answer, Denied)
        self._metrics.observe("denied" if denied else "allowed", self._clock.monotonic() - begun)
        self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: V | Denied) -> None:
        now, owner = self._clock.elapsed(), self._owner(key, answer)
        if isinstance(answer, Denied):
            self._allowed.drop(key)
            self._denied.put(key, answer, now, owner)
        else:
            self._denied.drop(key)
            self._allowed.put(key, answer, now, owner)

    async def close(self) -> None:
        """Ask no more; whoever waits is cancelled."""
        tasks = [*self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
