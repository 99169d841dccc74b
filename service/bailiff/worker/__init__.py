r"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts.

list+watch -> Mirror -> Evaluator -> PendingEvictions -> Executor -> PodActions
                                                                 \-> Recorder (Events)
"""

from bailiff.worker.actions import ClusterActions, PodActions
from bailiff.worker.settings import WorkerSettings
from bailiff.worker.status import create_status_app
from bailiff.worker.worker import Worker, watches

__all__ = [
    "ClusterActions",
    "PodActions",
    "Worker",
    "WorkerSettings",
    "create_status_app",
    "watches",
]
