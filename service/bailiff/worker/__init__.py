r"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts.

list+watch -> Mirror -> Evaluator -> PendingEvictions -> Executor -> PodActions
                                                                 \-> Recorder (Events)
"""

from bailiff.worker.actions import ClusterActions, PodActions
from bailiff.worker.election import Election, Elector, Unopposed
from bailiff.worker.freshness import Freshness
from bailiff.worker.settings import WorkerSettings
from bailiff.worker.sharding import MAX_SHARDS, Shard
from bailiff.worker.status import create_status_app
from bailiff.worker.tenure import ElectionSettings
from bailiff.worker.worker import Worker, watches

__all__ = [
    "MAX_SHARDS",
    "ClusterActions",
    "Election",
    "ElectionSettings",
    "Elector",
    "Freshness",
    "PodActions",
    "Shard",
    "Unopposed",
    "Worker",
    "WorkerSettings",
    "create_status_app",
    "watches",
]
