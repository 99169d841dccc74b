from .client import Cluster
from .cluster_clock import ClusterClock, SkewAlarm
from .connecting import connect
from .discovery import DeviceApi, DeviceDiscovery, served
from .errors import (
    AdmissionDeniedError,
    AlreadyExistsError,
    BadRequestError,
    ClusterError,
    ConfigError,
    ConflictError,
    DisruptionBudgetError,
    DryRunUnsupportedError,
    ExpiredError,
    FencedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    StatusError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
    UnreachableError,
)
from .exchanges import Exchange, Observer
from .keeping import KEEP_LITTLE, Keep
from .kubeconfig import kubeconfig_namespace
from .leases import LEASES, Lease, LeaseRecord, LeaseStore
from .list_watch import ListWatch
from .listing import Listing
from .probing import may_follow
from .request import Request, Selection
from .resource import (
    CONFIG_MAPS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    PatchType,
    Resource,
)
from .service_account import service_account_namespace
from .settings import ClusterSettings
from .unreadable import Unreadable
from .watch_events import Changed, Deleted, HasMetadata, Replaced, WatchEvent
from .watch_health import Restart, RewoundError, WatchHealth

__all__ = [
    "CONFIG_MAPS",
    "EVENTS",
    "KEEP_LITTLE",
    "LEASES",
    "NAMESPACES",
    "NODES",
    "PODS",
    "AdmissionDeniedError",
    "AlreadyExistsError",
    "BadRequestError",
    "Changed",
    "Cluster",
    "ClusterClock",
    "ClusterError",
    "ClusterSettings",
    "ConfigError",
    "ConflictError",
    "Deleted",
    "DeviceApi",
    "DeviceDiscovery",
    "DisruptionBudgetError",
    "DryRunUnsupportedError",
    "Exchange",
    "ExpiredError",
    "FencedError",
    "ForbiddenError",
    "HasMetadata",
    "InvalidError",
    "Keep",
    "Lease",
    "LeaseRecord",
    "LeaseStore",
    "ListWatch",
    "Listing",
    "NotFoundError",
    "Observer",
    "PatchType",
    "Replaced",
    "Request",
    "RequestTimeoutError",
    "Resource",
    "ResponseError",
    "Restart",
    "RewoundError",
    "Selection",
    "ServerError",
    "SkewAlarm",
    "StatusError",
    "TooManyRequestsError",
    "UidMismatchError",
    "UnauthorizedError",
    "UnreachableError",
    "Unreadable",
    "WatchEvent",
    "WatchHealth",
    "connect",
    "kubeconfig_namespace",
    "may_follow",
    "served",
    "service_account_namespace",
]
