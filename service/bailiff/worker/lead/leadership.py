"""What becomes of a worker's parts when its turn to act begins, and when its share is another's.

A worker that may get any of several shares goes from one to another only by starting afresh: when
it sees that the Lease of its share is another's, every mark, timer and wish for that share is
dropped, and it waits until nothing of it is under way; only then is another Lease claimed. All
writes are fenced by the one question whether this worker acts at all, and by that order the
question is always about the share that it looks after. What it knows of the cluster (nodes, pods,
devices, when taints were first seen) is not of a share, and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from bailiff.worker.execute.attempt import Attempt
    from bailiff.worker.execute.condition_resets import ConditionResets
    from bailiff.worker.lead.sharding import Shard
    from bailiff.worker.systems.system import Parts, SystemInWorker
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.pending import PendingEvictions

log = structlog.get_logger(__name__)


class Leadership:
    """An ElectionListener: the worker's."""

    def __init__(
        self,
        parts: Parts,
        systems: Mapping[str, SystemInWorker],
        evaluator: Evaluator,
        pending: PendingEvictions,
        attempt: Attempt,
        condition_resets: ConditionResets,
        earlier: asyncio.Event,
    ) -> None:
        """Prepare.

        Args:
            parts: of the worker; its `share` is what changes.
            systems: by name; each writes for the share besides evictions.
            evaluator: decides for the share's nodes.
            pending: the timers.
            attempt: carries out what is due.
            condition_resets: takes back what announced an eviction that does not come.
            earlier: set when there may be something to take.
        """
        self._share = parts.share
        self._metrics = parts.metrics
        self._systems = systems
        self._evaluator = evaluator
        self._pending = pending
        self._attempt = attempt
        self._condition_resets = condition_resets
        self._earlier = earlier

    def may_claim(self) -> bool:
        """See ElectionListener: who cannot list nodes and pods keeps no share from others."""
        return self._evaluator.mirror.synced

    def started_leading(self, shard: Shard) -> None:
        """See ElectionListener."""
        self._share.take(shard)
        # What was decided and could not be written meanwhile is decided again.
        self._evaluator.mark_all()
        for system in self._systems.values():
            system.elected()
        self._earlier.set()

    async def lost_shard(self) -> None:
        """See ElectionListener. By the bounds of the requests it takes half a minute at most."""
        shard = self._share.give_up()
        if shard is None:
            return
        log.warning("shard given up, its lease is another worker's", shard=str(shard))
        self._evaluator.forget_marks()
        for eviction in list(self._pending):
            self._pending.forget(eviction.uid)
        # What runs is told by its next write that this worker may not act, and ends by that.
        await self._attempt.until_idle()
        await self._condition_resets.forget()
        for system in self._systems.values():
            await system.share_lost()

    def new_leader(self) -> None:
        """See ElectionListener."""
        self._metrics.lease_transitions.inc()
