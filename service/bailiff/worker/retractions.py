"""Takes back the condition that announced an eviction, where the pod is spared after all.

The condition is set to False, as kube-controller-manager does with one that was followed by no
deletion for two minutes (pkg/controller/disruption, syncStalePodDisruption), only without that
wait: meanwhile a Job controller, or a person, would count the pod as one that is about to go.
Where it does not succeed within a few tries kube-controller-manager is left to do it.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.cluster import ClusterError, FencedError, NotFoundError, UidMismatchError
from bailiff.decisions import condition_of
from bailiff.worker.outcomes import Retry
from bailiff.worker.queue import DeadlineQueue

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.kinds import Pod, PodCondition
    from bailiff.worker.actions import PodActions
    from bailiff.worker.eviction import Eviction

# Together about 30 s, of the two minutes after which kube-controller-manager does it.
_RETRY = Retry(1, 16)
_TRIES = 6
# Pods that may wait at a time; of more, which a denying webhook for a whole cluster would take,
# kube-controller-manager takes care.
_MOST = 10_000
_LONGEST_SLEEP = 1.0

log = structlog.get_logger(__name__)


class _Spared(NamedTuple):
    pod: Pod
    condition: PodCondition
    tries: int


class Retractions:
    """Pods that carry a condition of ours and are not to go, each until it is taken back."""

    def __init__(self, actions: PodActions, clock: Clock) -> None:
        self._actions = actions
        self._clock = clock
        self._spared: dict[str, _Spared] = {}
        self._queue: DeadlineQueue[str] = DeadlineQueue()
        self._changed = asyncio.Event()
        self._untried = 0
        self._all_tried = asyncio.Event()
        self._all_tried.set()
        self._rng = random.Random()  # noqa: S311 - jitter, no secret

    def request(self, eviction: Eviction) -> None:
        """Take the condition of this eviction back, soon."""
        if eviction.uid not in self._spared and len(self._spared) < _MOST:
            self._untried += 1
            self._all_tried.clear()
            self._put(_Spared(eviction.pod, condition_of(eviction.finding), 0), 0.0)

    async def run(self) -> None:
        """Take back until cancelled."""
        while True:
            uid = self._queue.pop_due(self._clock.elapsed())
            if uid is None:
                await self._sleep()
            else:
                await self._try(self._spared.pop(uid))

    async def drain(self) -> None:
        """Return when everything asked for so far has been tried once."""
        await self._all_tried.wait()

    async def _try(self, spared: _Spared) -> None:
        try:
            await self._take_back(spared)
        finally:
            self._untried -= not spared.tries
            if not self._untried:
                self._all_tried.set()

    def _put(self, spared: _Spared, delay: float) -> None:
        uid = spared.pod.metadata.uid
        self._spared[uid] = spared
        self._queue.put(uid, self._clock.elapsed() + delay)
        self._changed.set()

    async def _sleep(self) -> None:
        # A first one sets the event; those that wait for another try are looked at every second.
        self._changed.clear()
        longest = _LONGEST_SLEEP if self._spared else None
        try:
            async with asyncio.timeout(longest):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _take_back(self, spared: _Spared) -> None:
        pod, condition, tries = spared
        try:
            await self._actions.withdraw_condition(pod, condition, self._clock.now())
        except (NotFoundError, UidMismatchError, FencedError):
            # It is gone, or another worker leads and does with it what is right.
            return
        except ClusterError as error:
            if tries + 1 < _TRIES:
                delay = _RETRY.delay(tries + 1, error.retry_after, self._rng)
                self._put(spared._replace(tries=tries + 1), delay)
            else:
                log.warning("condition not taken back", pod=pod.key, error=str(error))
