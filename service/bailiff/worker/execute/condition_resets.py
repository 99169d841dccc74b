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
from bailiff.worker.execute.outcomes import Outcome, Retry, classify
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from bailiff.actions.ports import PodActions
    from bailiff.clock import Clock
    from bailiff.kinds import Pod, PodCondition
    from bailiff.worker.timers.eviction import Eviction

# Together about 30 s, of the two minutes after which kube-controller-manager does it.
_RETRY = Retry(1, 16)
_TRIES = 6
# Seconds for one try, of two requests that mostly take milliseconds. One pod is tried at a time,
# so a request that hangs keeps all others waiting for as long.
_LONGEST_TRY = 5.0
# Pods that may wait at a time; of more, which a denying webhook for a whole cluster would take,
# kube-controller-manager takes care.
_MOST = 10_000
# The pod is gone, or another worker leads and does with it what is right.
_NOTHING_LEFT = frozenset({Outcome.GONE, Outcome.REPLACED, Outcome.FENCED})

log = structlog.get_logger(__name__)


class _Spared(NamedTuple):
    pod: Pod
    condition: PodCondition


class ConditionResets(Retrying[str]):
    """Pods that carry a condition of ours and are not to go, each until its condition is reset."""

    def __init__(self, actions: PodActions, clock: Clock) -> None:
        """Start with none, by UID."""
        super().__init__(clock)
        self._actions = actions
        # By UID, that of the one being tried included.
        self._spared: dict[str, _Spared] = {}
        self._rng = random.Random()  # noqa: S311 - jitter, no secret

    def request(self, eviction: Eviction) -> None:
        """Reset the condition of this eviction's pod, soon.

        Once more, where that is under way: the condition may have been written since.
        """
        condition = eviction.terms.condition
        room = eviction.uid in self._spared or len(self._spared) < _MOST
        if condition is not None and room:
            self._spared[eviction.uid] = _Spared(eviction.pod, condition)
            self.ask_for(eviction.uid)

    async def forget(self) -> None:
        """See Retrying."""
        self._spared.clear()
        await super().forget()

    async def attempt(self, key: str, failures: int) -> Again | None:
        """See Retrying."""
        spared = self._spared[key]
        error = await self._failure(spared)
        if error is not None and failures + 1 < _TRIES:
            return Again(_RETRY.delay(failures + 1, error.retry_after, self._rng))
        if error is not None:
            log.warning("condition not reset", pod=spared.pod.key, error=str(error))
        if self._spared.get(key) is spared:
            # Nobody has asked for it again meanwhile.
            del self._spared[key]
        return None

    async def _failure(self, spared: _Spared) -> ClusterError | None:
        """Why the condition has to be reset once more; None if it has not."""
        pod, condition = spared
        try:
            async with asyncio.timeout(_LONGEST_TRY):
                await self._actions.reset_condition(pod, condition, self._clock.now())
        except ClusterError as error:
            nothing_left = classify(error, PODS, pod.metadata.name) in _NOTHING_LEFT
            return None if nothing_left else error
        except TimeoutError:
            return UnreachableError(f"no answer within {_LONGEST_TRY:g} s")
        return None
