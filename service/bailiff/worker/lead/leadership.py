"""What becomes of a worker's parts when its turn to act begins, and when its shard is another's.

A worker that may get any of several shards goes from one to another only by starting afresh: when
it sees that the Lease of its shard is another's, every mark, timer and wish for that shard is
dropped, and it waits until nothing of it is under way; only then is another Lease claimed. All
writes are fenced by the one question whether this worker acts at all, and by that order the
question is always about the shard that it looks after. What it knows of the cluster (nodes, pods,
devices, when taints were first seen) is not of a shard, and stays.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.worker.mirror.slices import in_slices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.worker.execute.attempt import Attempt
    from bailiff.worker.lead.sharding import Shard
    from bailiff.worker.systems.system import Parts, SystemInWorker, Writer
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
        writers: Mapping[str, Writer],
        earlier: asyncio.Event,
    ) -> None:
        """Prepare.

        Args:
            parts: of the worker; its shard is what changes.
            systems: told when it is their turn to write, and when their shard is another's.
            evaluator: decides for the shard's nodes.
            pending: the timers.
            attempt: carries out what is due.
            writers: all that write besides evictions.
            earlier: wakes who takes what is due.
        """
        self._held_shard = parts.held_shard
        self._metrics = parts.metrics
        self._systems = systems
        self._evaluator = evaluator
        self._pending = pending
        self._attempt = attempt
        self._writers = writers
        self._earlier = earlier

    def may_claim(self) -> bool:
        """See ElectionListener: who cannot list nodes and pods keeps no shard from others."""
        return self._evaluator.mirror.synced

    def started_leading(self, shard: Shard) -> None:
        """See ElectionListener."""
        self._held_shard.take(shard)
        # What was decided and could not be written meanwhile is decided again.
        self._evaluator.mark_all()
        for system in self._systems.values():
            system.elected()
        self._earlier.set()

    async def lost_shard(self) -> None:
        """See ElectionListener. By the bounds of the requests it takes half a minute at most."""
        shard = self._held_shard.give_up()
        if shard is None:
            return
        log.warning("shard given up, its lease is another worker's", shard=str(shard))
        self._evaluator.forget_marks()
        for system in self._systems.values():
            system.lost()
        async for part in in_slices(tuple(self._pending)):
            for eviction in part:
                self._pending.forget(eviction.uid)
        # What runs is told by its next write that this worker may not act, and ends by that. It may
        # leave something to be written, so writers come after it.
        await self._attempt.until_idle()
        await asyncio.gather(*(writer.forget() for writer in self._writers.values()))

    def new_leader(self) -> None:
        """See ElectionListener."""
        self._metrics.lease_transitions.inc()
