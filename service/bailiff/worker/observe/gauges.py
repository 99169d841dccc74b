"""Metrics that are read off the worker's parts whenever somebody asks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.worker.lead.election import Election
    from bailiff.worker.lead.sharding import HeldShard
    from bailiff.worker.mirror.freshness import Freshness
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.pending import PendingEvictions


def export_picture(metrics: WorkerMetrics, evaluator: Evaluator, pending: PendingEvictions) -> None:
    """What is mirrored, what is still to be evaluated, and what is pending."""
    mirror, systems = evaluator.mirror, evaluator.systems
    metrics.pending.set_function(lambda: pending.unfinished)
    metrics.evaluator_backlog.set_function(lambda: evaluator.backlog)
    metrics.mirrored.labels("pods").set_function(lambda: mirror.pod_count)
    metrics.mirrored.labels("nodes").set_function(lambda: mirror.node_count)
    metrics.synced.set_function(
        lambda: mirror.synced and all(one.synced for one in systems.values())
    )


def export_lead(metrics: WorkerMetrics, election: Election, held: HeldShard, clock: Clock) -> None:
    """Whether this worker acts, for which shard, and how old the last renewal of the Lease is."""

    def renewal_age() -> float:
        renewed = election.renewed_at
        return 0.0 if renewed is None else clock.elapsed() - renewed

    metrics.leader.set_function(election.may_act)
    metrics.shards.set(held.count)
    metrics.shard.set_function(lambda: -1 if held.shard is None else held.shard.index)
    metrics.lease_renewal_age.set_function(renewal_age)


def export_freshness(
    metrics: WorkerMetrics, freshness: Freshness, resources: Iterable[str]
) -> None:
    """How far the watches of these resources are to be believed."""
    for resource in resources:
        metrics.watch_silence.labels(resource).set_function(partial(freshness.silence, resource))
        metrics.mirror_age.labels(resource).set_function(partial(freshness.age, resource))
