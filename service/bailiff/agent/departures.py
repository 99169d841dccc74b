"""Waiting for those who were evicted, as waitForPodsCleanup in the kubelet's eviction manager."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from bailiff.agent.reading import ReadingError
from bailiff.decisions.pressure.findings import evicted_at
from bailiff.decisions.pressure.grace import CLEAN_UP_SECONDS, leaves_within
from bailiff.kinds import Pod

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime

    from bailiff.agent.log import Log
    from bailiff.agent.node_facts import NodeFacts
    from bailiff.agent.reading import Source
    from bailiff.clock import Clock

# Seconds, podCleanupPollFreq of pkg/kubelet/eviction/eviction_manager.go.
LOOK_EVERY = 1.0

# Why nobody goes though somebody is chosen.
LEAVES = "a pod that was evicted has not left yet, and the threshold has a grace period"


class Departures:
    """Waits, so that nobody else goes for what is about to be free."""

    def __init__(
        self,
        source: Source,
        facts: NodeFacts,
        clock: Clock,
        log: Log,
        ends: Callable[[], bool],
    ) -> None:
        """Prepare.

        Args:
            source: says who uses something yet.
            facts: says who is there yet, where the source does not know.
            clock: counts the seconds.
            log: hears who has not left.
            ends: nobody is to be waited for any more.
        """
        self._source = source
        self._facts = facts
        self._clock = clock
        self._log = log
        self._ends = ends
        # Until when these may take to end, by UID, by elapsed time; and whether they were unseen.
        self._ending: dict[str, tuple[float, bool]] = {}

    def unseen(self, pods: Iterable[Pod]) -> frozenset[str]:
        """UIDs of those that run, and use nothing that can be seen, before they are evicted.

        That nothing of them is seen afterwards proves nothing: they have left when the API says so.
        """
        running = (one.metadata.uid for one in pods if one.status.phase == "Running")
        return frozenset(uid for uid in running if self._source.has_gone(uid))

    async def until_left(
        self, pods: Iterable[Pod], seconds: float, unseen: Collection[str] = (), grace: float = 0.0
    ) -> None:
        """Wait until these use nothing any more, for so long together.

        Args:
            pods: who were evicted.
            seconds: at most.
            unseen: see `unseen`, of before they were evicted.
            grace: seconds that they were given to end, for which nobody else goes for a soft
                threshold, see `are_under_way`.
        """
        left, began = list(pods), self._clock.elapsed()
        until = began + seconds
        while not self._ends():
            left = [pod for pod in left if not self._has_left(pod.metadata.uid, unseen)]
            if not left or self._clock.elapsed() >= until:
                break
            await asyncio.sleep(LOOK_EVERY)
        for pod in left:
            self._log.info("has not left yet", pod=pod.key, seconds=seconds)
            uid = pod.metadata.uid
            # One that an agent of before has evicted may have been given more.
            known, _ = self._ending.get(uid, (0.0, False))
            self._ending[uid] = max(known, began + leaves_within(grace)), uid in unseen

    def are_under_way(self) -> bool:
        """Whether some have time left that they were given to end, and use something yet."""
        elapsed = self._clock.elapsed()
        self._ending = {
            uid: (until, is_unseen)
            for uid, (until, is_unseen) in self._ending.items()
            if elapsed < until and not self._has_left(uid, (uid,) if is_unseen else ())
        }
        return bool(self._ending)

    async def until_measured(self, pods: Iterable[Pod]) -> None:
        """Wait until something is measured that knows that they have left, for a minute at most.

        Where the node itself is asked that is so at once; a kubelet measures every ten seconds.
        """
        if all(self._source.has_gone(one.metadata.uid) is not None for one in pods):
            return
        with contextlib.suppress(ReadingError):
            await self._source.read_anew(self._facts.pods)

    async def of_before(self, told: Callable[[list[Pod]], None]) -> None:
        """Wait for those that an agent of before has evicted a moment ago, as it would have.

        Args:
            told: is told of whom, if of anybody.
        """
        now, pods, longest = self._clock.now(), list[Pod](), 0.0
        for pod in self._facts.pods:
            at = evicted_at(pod)
            self._recall(pod, at, now)
            left = -1.0 if at is None else CLEAN_UP_SECONDS - (now - at).total_seconds()
            if 0 < left <= CLEAN_UP_SECONDS:
                pods.append(pod)
                longest = max(longest, left)
        pods = [one for one in pods if not self._has_left(one.metadata.uid, ())]
        if pods:
            told(pods)
            await self.until_left(pods, longest)

    def _recall(self, pod: Pod, at: datetime | None, now: datetime) -> None:
        """It was given time to end, for which nobody else goes for a soft threshold."""
        ends = pod.metadata.deletion_timestamp
        if at is not None and ends is not None and ends > now:
            left = leaves_within((ends - now).total_seconds())
            self._ending[pod.metadata.uid] = self._clock.elapsed() + left, False

    def _has_left(self, uid: str, unseen: Collection[str]) -> bool:
        """By what the node says, else by the API server."""
        gone = None if uid in unseen else self._source.has_gone(uid)
        if gone is None:
            return all(one.metadata.uid != uid for one in self._facts.pods)
        return gone
