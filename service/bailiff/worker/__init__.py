r"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts.

list+watch -> Mirror -> Evaluator -> PendingEvictions -> Executor -> PodActions
                                                                 \-> Recorder (Events)
"""

from bailiff.worker.actions import Actions, ClusterActions, PodActions
from bailiff.worker.api_metrics import ApiMetrics
from bailiff.worker.comparison import Comparison
from bailiff.worker.devices import DeviceFollowing
from bailiff.worker.election import Election, Elector, Unopposed
from bailiff.worker.freshness import Freshness
from bailiff.worker.pause_switch import PausedAlreadyError, PauseSwitch
from bailiff.worker.policy_control import PolicyControl
from bailiff.worker.policy_file import PoliciesUnusableError, PolicyFile
from bailiff.worker.settings import WorkerSettings
from bailiff.worker.shadow import ShadowActions, Watched
from bailiff.worker.sharding import MAX_SHARDS, Shard
from bailiff.worker.status import create_status_app
from bailiff.worker.tenure import ElectionSettings
from bailiff.worker.watching import PodWatch, Watches, watches
from bailiff.worker.worker import Worker

__all__ = [
    "MAX_SHARDS",
    "Actions",
    "ApiMetrics",
    "ClusterActions",
    "Comparison",
    "DeviceFollowing",
    "Election",
    "ElectionSettings",
    "Elector",
    "Freshness",
    "PauseSwitch",
    "PausedAlreadyError",
    "PodActions",
    "PodWatch",
    "PoliciesUnusableError",
    "PolicyControl",
    "PolicyFile",
    "ShadowActions",
    "Shard",
    "Unopposed",
    "Watched",
    "Watches",
    "Worker",
    "WorkerSettings",
    "create_status_app",
    "watches",
]
