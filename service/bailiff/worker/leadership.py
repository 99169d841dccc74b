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
    from bailiff.worker.annotator import Annotator
    from bailiff.worker.attempt import Attempt
    from bailiff.worker.condition_resets import ConditionResets
    from bailiff.worker.devices import RuleStatusWriter
    from bailiff.worker.evaluator import Evaluator
    from bailiff.worker.executor import Executor
    from bailiff.worker.metrics import WorkerMetrics
    from bailiff.worker.pending import PendingEvictions
    from bailiff.worker.sharding import HeldShard, Shard

log = structlog.get_logger(__name__)


class Leadership:
    """An ElectionListener: the worker's."""

    def __init__(
        self,
        share: HeldShard,
        evaluator: Evaluator,
        pending: PendingEvictions,
        executor: Executor,
        attempt: Attempt,
        annotator: Annotator,
        condition_resets: ConditionResets,
        rule_status: RuleStatusWriter,
        metrics: WorkerMetrics,
    ) -> None:
        """Prepare.

        Args:
            share: what changes.
            evaluator: decides for the share's nodes.
            pending: the timers.
            executor: takes what is due.
            attempt: carries it out.
            annotator: writes first observations on nodes.
            condition_resets: takes back what announced an eviction that does not come.
            rule_status: writes for all shares, if this one is the first.
            metrics: for counts.
        """
        self._share = share
        self._evaluator = evaluator
        self._pending = pending
        self._executor = executor
        self._attempt = attempt
        self._annotator = annotator
        self._condition_resets = condition_resets
        self._rule_status = rule_status
        self._metrics = metrics

    def may_claim(self) -> bool:
        """See ElectionListener: who cannot list nodes and pods keeps no share from others."""
        return self._evaluator.mirror.synced

    def started_leading(self, shard: Shard) -> None:
        """See ElectionListener."""
        self._share.take(shard)
        # What was decided and could not be written meanwhile is decided again.
        self._evaluator.mark_all()
        self._rule_status.look_at_all()
        self._executor.wake()

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
        # Of a node that is not ours nothing is wanted any more.
        await self._annotator.drain()
        await self._rule_status.until_idle()

    def new_leader(self) -> None:
        """See ElectionListener."""
        self._metrics.lease_transitions.inc()
