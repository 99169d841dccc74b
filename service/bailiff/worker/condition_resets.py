"""Resets the condition that announced an eviction, where the pod is spared after all.

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

from bailiff.cluster import PODS, ClusterError, UnreachableError
from bailiff.decisions import condition_of
from bailiff.worker.outcomes import Outcome, Retry, classify
from bailiff.worker.queue import DeadlineQueue

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.kinds import Pod, PodCondition
    from bailiff.worker.actions import PodActions
    from bailiff.worker.eviction import Eviction

# Together about 30 s, of the two minutes after which kube-controller-manager does it.
_RETRY = Retry(1, 16)
_TRIES = 6
# Seconds for one try, of two requests that mostly take milliseconds. One pod is tried at a time,
# so a request that hangs keeps all others waiting for as long.
_LONGEST_TRY = 5.0
# Pods that may wait at a time; of more, which a denying webhook for a whole cluster would take,
# kube-controller-manager takes care.
_MOST = 10_000
_LONGEST_SLEEP = 1.0
# The pod is gone, or another worker leads and does with it what is right.
_NOTHING_LEFT = frozenset({Outcome.GONE, Outcome.REPLACED, Outcome.FENCED})

log = structlog.get_logger(__name__)


class _Spared(NamedTuple):
    pod: Pod
    condition: PodCondition
    tries: int


class ConditionResets:
    """Pods that carry a condition of ours and are not to go, each until its condition is reset."""

    def __init__(self, actions: PodActions, clock: Clock) -> None:
        self._actions = actions
        self._clock = clock
        # By UID, that of the one being tried included.
        self._spared: dict[str, _Spared] = {}
        self._queue: DeadlineQueue[str] = DeadlineQueue()
        self._changed = asyncio.Event()
        self._tried = asyncio.Event()
        # Held while one is being tried.
        self._trying = asyncio.Lock()
        self._rng = random.Random()  # noqa: S311 - jitter, no secret

    def request(self, eviction: Eviction) -> None:
        """Reset the condition of this eviction's pod, soon.

        Once more, where that is under way: the condition may have been written since.
        """
        if eviction.uid in self._spared or len(self._spared) < _MOST:
            self._put(_Spared(eviction.pod, condition_of(eviction.finding), 0), 0.0)

    async def run(self) -> None:
        """Reset until cancelled."""
        while True:
            async with self._trying:
                uid = self._queue.pop_due(self._clock.elapsed())
                if uid is not None:
                    await self._try(uid, self._spared[uid])
            if uid is None:
                await self._sleep()

    async def forget(self) -> None:
        """Drop everything asked for; return when no request of it is under way."""
        async with self._trying:
            self._spared.clear()
            self._queue = DeadlineQueue()
            self._tried.set()

    async def drain(self) -> None:
        """Return when everything asked for so far has been tried once."""
        while any(not spared.tries for spared in self._spared.values()):
            self._tried.clear()
            await self._tried.wait()

    async def _try(self, uid: str, spared: _Spared) -> None:
        error = await self._failure(spared)
        if self._spared[uid] is spared:
            # Nobody has asked for it again meanwhile.
            del self._spared[uid]
            if error is not None:
                self._try_again(spared, error)
        self._tried.set()

    def _try_again(self, spared: _Spared, error: ClusterError) -> None:
        tries = spared.tries + 1
        if tries < _TRIES:
            delay = _RETRY.delay(tries, error.retry_after, self._rng)
            self._put(spared._replace(tries=tries), delay)
        else:
            log.warning("condition not reset", pod=spared.pod.key, error=str(error))

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

    async def _failure(self, spared: _Spared) -> ClusterError | None:
        """Why the condition has to be reset once more; None if it has not."""
        pod, condition, _ = spared
        try:
            async with asyncio.timeout(_LONGEST_TRY):
                await self._actions.reset_condition(pod, condition, self._clock.now())
        except ClusterError as error:
            nothing_left = classify(error, PODS, pod.metadata.name) in _NOTHING_LEFT
            return None if nothing_left else error
        except TimeoutError:
            return UnreachableError(f"no answer within {_LONGEST_TRY:g} s")
        return None
