r"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts.

list+watch -> Mirror -> Evaluator -> PendingEvictions -> Executor -> PodActions
                                                                 \-> Recorder (Events)
"""

from bailiff.worker.actions import ClusterPodActions, PodActions
from bailiff.worker.settings import WorkerSettings
from bailiff.worker.status import create_status_app
from bailiff.worker.worker import Worker, watches

__all__ = [
    "ClusterPodActions",
    "PodActions",
    "Worker",
    "WorkerSettings",
    "create_status_app",
    "watches",
]
