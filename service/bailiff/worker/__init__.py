r"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts.

list+watch -> Mirror -> Evaluator -> PendingEvictions -> Gate -> Executor -> Attempt -> Actions
                        \-> systems                                 \-> Teller
"""

from bailiff.actions.on_cluster import ClusterActions
from bailiff.actions.ports import Actions, PodActions
from bailiff.worker.gate.consent import Shared
from bailiff.worker.lead.election import Election, Elector, Unopposed
from bailiff.worker.lead.sharding import MAX_SHARDS, Shard
from bailiff.worker.lead.tenure import ElectionSettings
from bailiff.worker.mirror.freshness import Freshness
from bailiff.worker.mirror.watching import PodWatch, Watches
from bailiff.worker.observe.api_metrics import ApiMetrics
from bailiff.worker.observe.desk import Desk
from bailiff.worker.observe.metrics import WatchMetrics
from bailiff.worker.observe.observed import Observed
from bailiff.worker.observe.refused import refused_page
from bailiff.worker.observe.status import create_status_app
from bailiff.worker.observe.verdict_log import VerdictLog
from bailiff.worker.policy.control import PolicyControl
from bailiff.worker.policy.pause_switch import PausedAlreadyError, PauseSwitch
from bailiff.worker.settings import WorkerSettings
from bailiff.worker.shadow.comparison import Comparison
from bailiff.worker.shadow.shadow import ShadowActions, Watched
from bailiff.worker.systems import (
    SYSTEMS,
    MakeSystem,
    Source,
    halves_of,
)
from bailiff.worker.worker import Worker

__all__ = [
    "MAX_SHARDS",
    "SYSTEMS",
    "Actions",
    "ApiMetrics",
    "ClusterActions",
    "Comparison",
    "Desk",
    "Election",
    "ElectionSettings",
    "Elector",
    "Freshness",
    "MakeSystem",
    "Observed",
    "PauseSwitch",
    "PausedAlreadyError",
    "PodActions",
    "PodWatch",
    "PolicyControl",
    "ShadowActions",
    "Shard",
    "Shared",
    "Source",
    "Unopposed",
    "VerdictLog",
    "WatchMetrics",
    "Watched",
    "Watches",
    "Worker",
    "WorkerSettings",
    "create_status_app",
    "halves_of",
    "refused_page",
]
